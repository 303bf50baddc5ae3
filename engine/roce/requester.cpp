// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/requester.h"

#include "engine/roce/local_memory.h"
#include "engine/roce/psn.h"
#include "engine/wire/icrc.h"

#include <algorithm>
#include <cstring>

namespace gradstorm::roce {
namespace {

using transport::Opcode;
using transport::WorkRequest;

constexpr std::uint32_t kEntriesAhead = 8;         // far enough for the next cache level to answer
constexpr std::uint16_t kMessageEndInterval = 32;  // frames behind an AckReq from which on a message end asks again

bool is_write(Opcode opcode) { return opcode == Opcode::write || opcode == Opcode::write_with_immediate; }
bool carries_immediate(Opcode opcode) {
    return opcode == Opcode::write_with_immediate || opcode == Opcode::send_with_immediate;
}

wire::TemplateKind full_write_shape(bool first, bool last, bool immediate) {
    if (!first)
        return !last       ? wire::TemplateKind::write_middle
               : immediate ? wire::TemplateKind::write_last_immediate
                           : wire::TemplateKind::write_last;
    return !last       ? wire::TemplateKind::write_first
           : immediate ? wire::TemplateKind::write_only_immediate
                       : wire::TemplateKind::write_only;
}

wire::Opcode frame_opcode(Opcode message, bool first, bool last) {
    using wire::MessageKind;
    switch (message) {
        case Opcode::write: return wire::packet_opcode(MessageKind::write, first, last);
        case Opcode::write_with_immediate: return wire::packet_opcode(MessageKind::write_with_immediate, first, last);
        case Opcode::send: return wire::packet_opcode(MessageKind::send, first, last);
        case Opcode::send_with_immediate: return wire::packet_opcode(MessageKind::send_with_immediate, first, last);
        case Opcode::read: break;
    }
    return wire::Opcode::read_request;
}

}  // namespace

std::size_t Requester::post(std::span<const WorkRequest> requests) {
    constexpr std::uint32_t kMaxFramesAhead = 1U << 30U;  // far inside what 32-bit PSN counts can tell apart
    const QueuePairIndex index = requests.front().queue_pair;
    QueuePair& pair = state_.pairs[index];
    RequesterState& r = state_.requesters[index];
    const std::uint32_t room = std::min(pair.send_depth - (r.tail - r.head), state_.completions.room());
    std::uint32_t taken = 0;
    for (const WorkRequest& request : requests.first(std::min<std::size_t>(room, requests.size()))) {
        const std::uint64_t frames =
            request.length == 0 ? 1 : ((request.length - std::uint64_t{1}) >> pair.path_mtu_shift) + 1;
        if (r.posted - r.unacknowledged + frames > kMaxFramesAhead) break;
        ++taken;
        if (pair.failed) [[unlikely]] {
            state_.completions.push(
                {.id = request.id, .queue_pair = index, .status = transport::CompletionStatus::flushed});
            continue;
        }
        // Field by field: put together elsewhere first, the entry would be read back before its parts are stored.
        SendEntry& entry = r.entries[r.tail++ & r.mask];
        entry.request = request;
        entry.first_psn = r.posted;
        entry.frames = static_cast<std::uint32_t>(frames);
        r.posted += entry.frames;
    }
    state_.completions.reserve(taken);
    if (r.cursor != r.tail) state_.make_ready(index);
    return taken;
}

std::size_t Requester::take_turn(QueuePairIndex index, std::span<wire::Frame> frames) {
    RequesterState& r = state_.requesters[index];
    std::size_t built = 0;
    while (built < frames.size() && can_send(index)) {
        const SendEntry& entry = r.entries[r.cursor & r.mask];
        if (r.offset == 0) {
            const std::size_t onlys = build_onlys(index, frames.subspan(built));
            built += onlys;
            if (onlys > 0) continue;
        }
        if (r.offset > 0 && is_write(entry.request.opcode) &&
            entry.request.length - r.offset > state_.pairs[index].path_mtu) {
            built += build_middles(index, entry, frames.subspan(built));
            continue;
        }
        if (r.offset == 0 && !begin_message(index, entry)) break;
        build_one(index, entry, frames[built++]);
    }
    if (built > 0 && r.deadline == kNoDeadline) state_.set_deadline(index, state_.now + state_.pairs[index].timeout);
    return built;
}

inline bool Requester::has_local_access(const WorkRequest& request) const {
    return request.length == 0 ||
           state_.regions.local_allowed(request.local_key, request.local_address, request.length);
}

/// Whether the message at the cursor may start now: local access, fence, number of READs.
bool Requester::begin_message(QueuePairIndex index, const SendEntry& entry) {
    const WorkRequest& request = entry.request;
    QueuePair& pair = state_.pairs[index];
    const RequesterState& r = state_.requesters[index];
    if (!has_local_access(request)) {
        // It completes in its order: progress leads here again until everything in front of it has.
        if (r.cursor == r.head) {
            state_.fail(index, transport::CompletionStatus::local_protection_error);
        } else if (r.since_request > 0) {
            go_back(index, r.next - 1);  // the last frame in front has not asked for its acknowledgement
        }
        return false;
    }
    if (request.fence && pair.reads_in_flight > 0) return false;
    if (request.opcode == Opcode::read) {
        if (pair.reads_in_flight == kMaxReads) return false;
        ++pair.reads_in_flight;
    }
    return true;
}

bool Requester::wants_ack(const RequesterState& r, bool last) const {
    if (r.since_request + 1 >= r.ack_interval) return true;
    if (!last) return false;
    return r.cursor + 1 == r.tail || r.since_request + 1 >= kMessageEndInterval ||
           4U * (r.messages_since_request + 1U) > r.mask;
}

/// `psns` PSNs more were used by `frames` frames, all of one length and with one amount of payload.
void Requester::account(QueuePair& pair, RequesterState& r, const SendEntry& entry, std::uint32_t frames,
                        std::uint16_t frame_length, std::uint32_t payload, std::uint32_t psns) {
    const std::int32_t behind = count_distance(r.high, r.next);
    const std::uint32_t again = behind > 0 ? std::min(frames, static_cast<std::uint32_t>(behind)) : 0;
    const std::uint32_t fresh = frames - again;
    transport::HcaCounters& counters = *pair.counters;
    counters.tx_retransmitted_frames += again;
    counters.tx_wire_bytes += frames * wire::line_bytes(frame_length);
    if (entry.request.traffic_class == transport::TrafficClass::data) {
        counters.tx_data_frames += fresh;
        counters.tx_data_wire_bytes += fresh * wire::line_bytes(frame_length);
        counters.tx_payload_bytes += std::uint64_t{fresh} * payload;
    } else {
        counters.tx_clear_to_send_frames += fresh;
    }
    r.next += psns;
    if (count_distance(r.next, r.high) > 0) r.high = r.next;
}

/// An AckReq was set or not on a frame, the last of its message or not.
inline void Requester::asked(RequesterState& r, bool ack_request, bool last) const {
    r.since_request = ack_request ? std::uint16_t{0} : static_cast<std::uint16_t>(r.since_request + 1);
    r.messages_since_request =
        ack_request ? std::uint16_t{0} : static_cast<std::uint16_t>(r.messages_since_request + (last ? 1 : 0));
}

/// The hot loop of short messages: plain WRITEs of exactly one path MTU each, none if the next is something else.
std::size_t Requester::build_onlys(QueuePairIndex index, std::span<wire::Frame> frames) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    const SendEntry& first = r.entries[r.cursor & r.mask];
    const std::uint32_t in_window = r.window - (r.next - r.unacknowledged);
    const std::uint32_t most = std::min({static_cast<std::uint32_t>(frames.size()), r.tail - r.cursor, in_window});
    std::uint32_t count = 0;
    for (; count < most; ++count) {
        const SendEntry& entry = r.entries[r.cursor & r.mask];
        __builtin_prefetch(&r.entries[(r.cursor + kEntriesAhead) & r.mask]);
        const WorkRequest& request = entry.request;
        const bool plain = request.opcode == Opcode::write && request.length == pair.path_mtu && !request.fence &&
                           request.traffic_class == first.request.traffic_class;
        if (!plain || !has_local_access(request)) break;
        const bool ack_request = wants_ack(r, true);
        const std::uint32_t word = (entry.first_psn & kPsnMask) | (ack_request ? wire::kAckRequestBit : 0);
        build_shaped<wire::TemplateKind::write_only>(pair, entry, word, 0, frames[count]);
        asked(r, ack_request, true);
        ++r.cursor;
    }
    if (count > 0) account(pair, r, first, count, frames.front().length, pair.path_mtu, count);
    return count;
}

/// The hot loop of long messages: MIDDLE frames up to the next AckReq, the end of the window, of the turn, or of the
/// message.
std::size_t Requester::build_middles(QueuePairIndex index, const SendEntry& entry, std::span<wire::Frame> frames) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    const std::uint32_t mtu = pair.path_mtu;
    const std::uint32_t in_message = (entry.request.length - r.offset - 1) >> pair.path_mtu_shift;
    const std::uint32_t in_window = r.window - (r.next - r.unacknowledged);
    const std::uint32_t to_request =
        r.since_request < r.ack_interval ? r.ack_interval - std::uint32_t{r.since_request} : 1;
    const std::uint32_t count =
        std::min({static_cast<std::uint32_t>(frames.size()), in_message, in_window, to_request});
    const wire::HeaderTemplate& header = pair.templates[static_cast<std::size_t>(wire::TemplateKind::write_middle)];
    const wire::HeaderDeltas& deltas = *pair.deltas;
    const bool copy = state_.checksum.mode() == wire::PayloadMode::memory;
    const std::size_t icrc_place = state_.checksum.icrc_place(mtu);
    for (std::uint32_t i = 0; i < count; ++i) {
        wire::Frame& frame = frames[i];
        std::uint32_t word = (r.next + i) & kPsnMask;
        if (i + 1 == to_request) word |= wire::kAckRequestBit;
        std::uint32_t icrc = header.stamp<wire::TemplateKind::write_middle>(frame, deltas, {.psn_word = word});
        std::byte* payload = frame.buffer + header.end();
        if (copy) {
            std::memcpy(payload, memory_at(entry.request.local_address + r.offset + std::uint64_t{i} * mtu), mtu);
            icrc ^= state_.checksum.payload_part(payload, mtu);
        }
        wire::put_icrc(payload + icrc_place, icrc);
    }
    if (count == to_request) {
        r.since_request = 0;
        r.messages_since_request = 0;
    } else {
        r.since_request = static_cast<std::uint16_t>(r.since_request + count);
    }
    r.offset += count * mtu;
    account(pair, r, entry, count, header.frame_length, mtu, count);
    return count;
}

template <wire::TemplateKind S>
void Requester::build_shaped(QueuePair& pair, const SendEntry& entry, std::uint32_t psn_word, std::uint64_t offset,
                             wire::Frame& frame) {
    wire::HeaderTemplate& header = pair.templates[static_cast<std::size_t>(S)];
    const WorkRequest& request = entry.request;
    if constexpr (wire::Layout<S>::kReth) {
        if (!header.matches(request.remote_key, request.length)) {
            header.set_message(S, request.remote_key, request.length, state_.checksum);
        }
    }
    const std::uint32_t length = wire::is_full(S) ? pair.path_mtu : 0;
    const wire::HeaderDeltas& deltas = wire::is_full(S) ? *pair.deltas : *pair.empty_deltas;
    std::uint32_t icrc = header.stamp<S>(
        frame, deltas, {.psn_word = psn_word, .address = request.remote_address, .tail = request.immediate});
    std::byte* payload = frame.buffer + header.end();
    if (length > 0 && state_.checksum.mode() == wire::PayloadMode::memory) {
        std::memcpy(payload, memory_at(request.local_address + offset), length);
        icrc ^= state_.checksum.payload_part(payload, length);
    }
    wire::put_icrc(payload + state_.checksum.icrc_place(length), icrc);
}

/// One frame of any kind at the cursor.
void Requester::build_one(QueuePairIndex index, const SendEntry& entry, wire::Frame& frame) {
    QueuePair& pair = state_.pairs[index];
    RequesterState& r = state_.requesters[index];
    const WorkRequest& request = entry.request;
    const bool is_read = request.opcode == Opcode::read;
    const bool first = r.offset == 0;
    const std::uint32_t payload = is_read ? 0 : std::min(request.length - r.offset, pair.path_mtu);
    const bool last = is_read || r.offset + payload == request.length;
    const bool ack = wants_ack(r, last);
    const std::uint32_t word = (r.next & kPsnMask) | (ack ? wire::kAckRequestBit : 0);
    const bool immediate = carries_immediate(request.opcode);
    wire::TemplateKind shape = wire::TemplateKind::other;
    if (is_write(request.opcode)) {
        if (payload == pair.path_mtu) shape = full_write_shape(first, last, immediate);
        if (payload == 0 && immediate) shape = wire::TemplateKind::credit;
    }
    switch (shape) {
        case wire::TemplateKind::write_first:
            build_shaped<wire::TemplateKind::write_first>(pair, entry, word, r.offset, frame);
            break;
        case wire::TemplateKind::write_last:
            build_shaped<wire::TemplateKind::write_last>(pair, entry, word, r.offset, frame);
            break;
        case wire::TemplateKind::write_last_immediate:
            build_shaped<wire::TemplateKind::write_last_immediate>(pair, entry, word, r.offset, frame);
            break;
        case wire::TemplateKind::write_only:
            build_shaped<wire::TemplateKind::write_only>(pair, entry, word, r.offset, frame);
            break;
        case wire::TemplateKind::write_only_immediate:
            build_shaped<wire::TemplateKind::write_only_immediate>(pair, entry, word, r.offset, frame);
            break;
        case wire::TemplateKind::credit:
            build_shaped<wire::TemplateKind::credit>(pair, entry, word, r.offset, frame);
            break;
        default: build_other(pair, entry, frame_opcode(request.opcode, first, last), ack, payload, frame, r); break;
    }
    asked(r, ack, last);
    const std::uint32_t psns = is_read ? entry.first_psn + entry.frames - r.next : 1;
    account(pair, r, entry, 1, frame.length, payload, psns);
    r.offset = last ? 0 : r.offset + payload;
    if (last) ++r.cursor;
}

/// Frames without a template: field by field.
void Requester::build_other(QueuePair& pair, const SendEntry& entry, wire::Opcode opcode, bool ack_request,
                            std::uint32_t payload, wire::Frame& frame, const RequesterState& r) {
    const WorkRequest& request = entry.request;
    wire::FrameHeaders headers = pair.headers;
    headers.bth.opcode = opcode;
    headers.bth.psn = r.next & kPsnMask;
    headers.bth.ack_request = ack_request;
    headers.reth = {
        .virtual_address = request.remote_address, .remote_key = request.remote_key, .length = request.length};
    headers.immediate = request.immediate;
    if (request.opcode == Opcode::read) {  // after a loss a READ asks for the rest alone
        headers.reth.virtual_address += r.offset;
        headers.reth.length -= r.offset;
    }
    state_.checksum.begin(frame, headers, payload);
    if (payload > 0 && state_.checksum.mode() == wire::PayloadMode::memory) {
        std::memcpy(frame.buffer + wire::kPayloadAnchor, memory_at(request.local_address + r.offset), payload);
    }
    state_.checksum.seal(frame, wire::kPayloadAnchor - std::size_t{frame.offset}, payload);
}

}  // namespace gradstorm::roce
