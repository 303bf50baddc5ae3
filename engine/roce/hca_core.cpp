// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/hca_core.h"

#include "engine/roce/psn.h"
#include "engine/wire/gathered_frame.h"

#include <algorithm>

namespace gradstorm::roce {
namespace {

// Places in a frame over IPv4 without a VLAN tag, the quick way's only kind.
constexpr std::size_t kOpcodePlace = wire::kEthernetSize + wire::kIpv4Size + wire::kUdpSize;
constexpr std::size_t kQpnPlace = kOpcodePlace + 5;
constexpr std::size_t kShortestQuick = kOpcodePlace + wire::kBthSize + wire::kAethSize + wire::kIcrcSize;

/// The longest run at the front that is for one queue pair.
std::span<const transport::WorkRequest> requests_of_one_pair(std::span<const transport::WorkRequest> requests) {
    std::size_t length = 1;
    while (length < requests.size() && requests[length].queue_pair == requests.front().queue_pair) ++length;
    return requests.first(length);
}

}  // namespace

std::size_t HcaCore::post(std::span<const transport::WorkRequest> requests) {
    std::size_t taken = 0;
    while (taken < requests.size()) {
        const std::span<const transport::WorkRequest> run = requests_of_one_pair(requests.subspan(taken));
        const std::size_t posted = requester_.post(run);
        taken += posted;
        if (posted < run.size()) break;
    }
    return taken;
}

std::size_t HcaCore::post_receive(std::span<const transport::ReceiveRequest> requests) {
    std::size_t taken = 0;
    while (taken < requests.size() && responder_.post_receive(requests[taken])) ++taken;
    return taken;
}

void HcaCore::ring_alarms(Instant until) {
    // As many as were due on entry: an alarm that sets a new one for this very instant waits for the next step.
    for (std::size_t left = state_.pairs.size(); left > 0 && state_.timers.next() <= until; --left) {
        requester_.alarm(state_.timers.pop(), until);
    }
}

void HcaCore::receive(std::span<const wire::Frame> frames) {
    for (const wire::Frame& frame : frames) receive(frame);
}

std::size_t HcaCore::build(std::span<wire::Frame> frames) {
    std::size_t built = responder_.settle(frames);
    // Each ready queue pair at most once a call, so that blocked ones end it.
    for (std::uint32_t turns = state_.ready.size(); turns > 0 && built < frames.size(); --turns) {
        const QueuePairIndex index = state_.ready.front();
        state_.ready.pop();
        const auto room = frames.subspan(built);
        const auto turn = room.first(std::min<std::size_t>(room.size(), state_.config.turn_frames));
        QueuePair& pair = state_.pairs[index];
        pair.in_ready_list = false;
        // With both to send, answers and own requests alternate.
        const bool answers = responder_.has_read_jobs(index) && !(pair.answered && requester_.can_send(index));
        pair.answered = answers;
        const std::size_t count = answers ? responder_.take_turn(index, turn) : requester_.take_turn(index, turn);
        built += count;
        // Who used up his turn may have more; who did not is blocked, and made ready by what unblocks him.
        if (responder_.has_read_jobs(index) || ((answers || count == turn.size()) && requester_.can_send(index))) {
            state_.make_ready(index);
        }
    }
    return built;
}

inline bool HcaCore::find(std::uint32_t qpn, QueuePairIndex& index) const {
    index = (qpn & slot_mask_) - kFirstSlot;
    return index < state_.pairs.size();
}

void HcaCore::receive(const wire::Frame& frame) {
    if (!receive_quickly(frame)) [[unlikely]]
        receive_in_full(whole(frame));
}

/// The frame as it is on the wire.
wire::Frame HcaCore::whole(const wire::Frame& frame) {
    if (!state_.checksum.gathered()) return frame;
    const std::size_t length = wire::gather(frame, state_.checksum.constant_payload(), scratch_);
    return {scratch_.data(), 0, static_cast<std::uint16_t>(length), frame.source};
}

/// The branches are ordered by how often they are taken in a stream of long messages: MIDDLE first.
bool HcaCore::receive_quickly(const wire::Frame& frame) {
    if (frame.length < kShortestQuick) return false;
    const std::byte* header = frame.data();
    QueuePairIndex index = 0;
    if (!find(wire::load_big24(header + kQpnPlace), index)) return false;
    const auto opcode = static_cast<wire::Opcode>(header[kOpcodePlace]);
    if (opcode == wire::Opcode::write_middle) [[likely]] {
        return responder_.accept<wire::TemplateKind::write_middle>(index, frame);
    }
    switch (opcode) {
        case wire::Opcode::acknowledge: return accept_ack(index, frame);
        case wire::Opcode::write_only_immediate:
            return responder_.accept<wire::TemplateKind::write_only_immediate>(index, frame) ||
                   responder_.accept<wire::TemplateKind::credit>(index, frame);
        case wire::Opcode::write_only: return responder_.accept<wire::TemplateKind::write_only>(index, frame);
        case wire::Opcode::write_first: return responder_.accept<wire::TemplateKind::write_first>(index, frame);
        case wire::Opcode::write_last: return responder_.accept<wire::TemplateKind::write_last>(index, frame);
        case wire::Opcode::write_last_immediate:
            return responder_.accept<wire::TemplateKind::write_last_immediate>(index, frame);
        default: return false;
    }
}

bool HcaCore::accept_ack(QueuePairIndex index, const wire::Frame& frame) {
    using L = wire::Layout<wire::TemplateKind::acknowledge>;
    const QueuePair& pair = state_.pairs[index];
    const wire::ExpectedHeader& expected = pair.expected[static_cast<std::size_t>(wire::TemplateKind::acknowledge)];
    const std::byte* header = frame.data();
    if (!expected.same<wire::TemplateKind::acknowledge>(header, frame.length)) return false;
    const std::byte* payload = header + wire::ExpectedHeader::kPayloadOffset<wire::TemplateKind::acknowledge>;
    const wire::VariableFields fields = L::load(payload);
    if (wire::get_icrc(payload) != (expected.icrc ^ L::delta(*pair.empty_deltas, fields))) return false;
    ++pair.counters->rx_frames;
    pair.counters->rx_wire_bytes += wire::line_bytes(frame.length);
    requester_.acknowledged(index, fields.psn_word & kPsnMask, static_cast<std::uint8_t>(fields.tail >> 24U));
    return true;
}

void HcaCore::receive_in_full(const wire::Frame& frame) {
    const auto decoded = wire::decode({frame.data(), frame.length});
    if (!decoded) {
        transport::HcaCounters& counters = counters_of({});
        ++counters.rx_frames;
        counters.rx_wire_bytes += wire::line_bytes(frame.length);
        ++counters.rx_discarded_frames;
        return;
    }
    transport::HcaCounters& counters = counters_of(decoded->headers.ethernet.destination);
    ++counters.rx_frames;
    counters.rx_wire_bytes += wire::line_bytes(frame.length);
    const std::size_t length = decoded->payload.size();
    const auto header_size = static_cast<std::size_t>(decoded->payload.data() - frame.data());
    if (!decoded->ip_checksum_right || !state_.checksum.verify(frame.data(), decoded->length, header_size, length)) {
        ++counters.rx_icrc_errors;
        return;
    }
    QueuePairIndex index = 0;
    const wire::IpHeader& ip = decoded->headers.ip;
    if (!find(decoded->headers.bth.destination_qpn, index) ||
        state_.pairs[index].local.qpn != decoded->headers.bth.destination_qpn || !state_.pairs[index].connected ||
        state_.pairs[index].local.hca.ip != ip.destination || state_.pairs[index].peer.hca.ip != ip.source) {
        ++counters.rx_discarded_frames;
    } else {
        dispatch(index, *decoded, frame);
    }
}

void HcaCore::dispatch(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame) {
    const wire::FrameHeaders& headers = decoded.headers;
    transport::HcaCounters& counters = *state_.pairs[index].counters;
    const bool marked = headers.ip.ecn == wire::Ecn::congestion_experienced;
    if (marked) ++counters.rx_ecn_marked_frames;
    if (headers.bth.opcode == wire::Opcode::congestion_notification) {
        ++counters.rx_cnp_frames;
        return;
    }
    if (headers.bth.opcode == wire::Opcode::acknowledge) {
        requester_.acknowledged(index, headers.bth.psn, headers.aeth.syndrome);
        learn_ack(index, decoded, frame);
        return;
    }
    if (marked) responder_.congestion_marked(index);
    if (wire::is_read_response(headers.bth.opcode)) {
        requester_.read_response(index, decoded);
    } else {
        responder_.request(index, decoded, frame);
    }
}

void HcaCore::learn_ack(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame) {
    const wire::FrameHeaders& headers = decoded.headers;
    if (!headers.ip.is_v4() || headers.ethernet.vlan || decoded.length != frame.length) return;
    if (headers.ip.ecn == wire::Ecn::congestion_experienced) return;
    QueuePair& pair = state_.pairs[index];
    pair.expected[static_cast<std::size_t>(wire::TemplateKind::acknowledge)].learn<wire::TemplateKind::acknowledge>(
        frame.data(), frame.length, 0, *pair.empty_deltas);
}

/// Whose counters a frame belongs to that may be nobody's: the HCA with this address, else the first.
transport::HcaCounters& HcaCore::counters_of(const wire::MacAddress& mac) {
    const auto& addresses = state_.config.addresses;
    const auto found = std::ranges::find(addresses, mac, &wire::HcaAddress::mac);
    return state_.counters[found == addresses.end() ? 0 : static_cast<std::size_t>(found - addresses.begin())];
}

}  // namespace gradstorm::roce
