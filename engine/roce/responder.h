// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/roce/hca_state.h"
#include "engine/roce/local_memory.h"
#include "engine/roce/psn.h"
#include "engine/transport/queue_pair.h"
#include "engine/wire/aeth.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_codec.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gradstorm::roce {

/// The receiving half of every queue pair of an HCA: accepts frames in order, places their payload, consumes receives,
/// answers READs, and owes acknowledgements. Duplicates are acknowledged again (READs executed again); the first frame
/// behind a gap is answered by one NAK, the rest of them by nothing.
class Responder {
public:
    explicit Responder(HcaState& state) : state_(state) {}

    bool post_receive(const transport::ReceiveRequest& request);

    /// The quick way in for a frame of a known shape that is exactly what the queue pair waits for. Returns false and
    /// changes nothing if it is not: then the frame has to be taken apart.
    template <wire::TemplateKind S>
    bool accept(QueuePairIndex index, const wire::Frame& frame);

    /// Any request, its ICRC checked. `frame` is the whole of it.
    void request(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame);

    /// A frame of the queue pair carries a congestion mark: owes a CNP, unless one was sent a short time ago.
    void congestion_marked(QueuePairIndex index);

    /// Builds ACKs, NAKs and CNPs that are owed into a prefix of `frames` and returns its length.
    std::size_t settle(std::span<wire::Frame> frames);

    [[nodiscard]] bool has_read_jobs(QueuePairIndex index) const { return !state_.pairs[index].read_jobs.empty(); }
    /// Builds READ responses of one queue pair.
    std::size_t take_turn(QueuePairIndex index, std::span<wire::Frame> frames);

private:
    enum class Verdict : std::uint8_t { accepted, not_ready, invalid, access_error, operational_error };

    [[nodiscard]] Verdict execute(QueuePairIndex index, const wire::DecodedFrame& decoded);
    [[nodiscard]] Verdict execute_write(QueuePairIndex index, const wire::DecodedFrame& decoded);
    [[nodiscard]] Verdict execute_send(QueuePairIndex index, const wire::DecodedFrame& decoded);
    [[nodiscard]] Verdict execute_read(QueuePairIndex index, const wire::DecodedFrame& decoded);
    void refuse(QueuePairIndex index, Verdict verdict);
    void duplicate(QueuePairIndex index, const wire::DecodedFrame& decoded);
    void out_of_order(QueuePairIndex index);
    void advance(QueuePairIndex index, bool last, bool ack_request);
    void learn(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame);
    void place(ResponderState& responder, const std::byte* payload, std::size_t length);
    void complete_receive(QueuePairIndex index, std::uint32_t length, const std::uint32_t* immediate,
                          transport::CompletionStatus status);
    void build_ack(QueuePairIndex index, wire::Frame& frame);
    void build_cnp(QueuePairIndex index, wire::Frame& frame);
    void build_read_response(QueuePairIndex index, ReadJob& job, wire::Frame& frame);

    HcaState& state_;
};

template <wire::TemplateKind S>
bool Responder::accept(QueuePairIndex index, const wire::Frame& frame) {
    using Message = ResponderState::Message;
    constexpr bool kStarts = wire::is_first(wire::opcode_of(S));
    constexpr bool kEnds = wire::is_last(wire::opcode_of(S));
    constexpr bool kImmediate = wire::has_immediate(wire::opcode_of(S));
    ResponderState& r = state_.responders[index];
    QueuePair& pair = state_.pairs[index];
    const wire::ExpectedHeader& expected = pair.expected[static_cast<std::size_t>(S)];
    const std::byte* header = frame.data();
    if (!expected.same<S>(header, frame.length)) return false;

    const std::byte* payload = header + wire::ExpectedHeader::kPayloadOffset<S>;
    const wire::VariableFields fields = wire::Layout<S>::load(payload);
    const std::uint32_t mtu = wire::is_full(S) ? r.path_mtu : 0;
    if ((fields.psn_word & ~wire::kAckRequestBit) != r.expected_psn) return false;
    if (r.message != (kStarts ? Message::none : Message::write)) return false;
    if constexpr (!kStarts) {
        if (kEnds ? r.remaining != mtu : r.remaining <= mtu) return false;
    }
    if constexpr (kImmediate) {
        if (pair.receives.empty()) return false;
    }
    const wire::HeaderDeltas& deltas = wire::is_full(S) ? *r.deltas : *pair.empty_deltas;
    const std::uint32_t icrc =
        expected.icrc ^ wire::Layout<S>::delta(deltas, fields) ^ state_.checksum.payload_part(payload, mtu);
    if (icrc != wire::get_icrc(payload + state_.checksum.icrc_place(mtu))) return false;
    if constexpr (kStarts && wire::is_full(S)) {
        const auto key = wire::load_big<std::uint32_t>(payload - wire::Layout<S>::kTailSize - 8);
        const auto length = wire::load_big<std::uint32_t>(payload - wire::Layout<S>::kTailSize - 4);
        if (kEnds ? length != mtu : length <= mtu) return false;
        if (!state_.regions.remote_allowed(key, fields.address, length)) return false;
        r.address = fields.address;
        r.remaining = length;
        r.received = 0;
    }
    if constexpr (S == wire::TemplateKind::credit) r.received = r.remaining = 0;

    ++r.counters->rx_frames;
    r.counters->rx_wire_bytes += wire::line_bytes(frame.length);
    r.counters->rx_payload_bytes += mtu;
    place(r, payload, mtu);
    if constexpr (kImmediate) {
        complete_receive(index, r.received, &fields.tail, transport::CompletionStatus::success);
    }
    r.message = kEnds ? Message::none : Message::write;
    advance(index, kEnds, (fields.psn_word & wire::kAckRequestBit) != 0);
    return true;
}

inline void Responder::place(ResponderState& r, const std::byte* payload, std::size_t length) {
    if (state_.checksum.mode() == wire::PayloadMode::memory && length > 0) {
        std::memcpy(memory_at(r.address), payload, length);
    }
    r.address += length;
    r.remaining -= static_cast<std::uint32_t>(length);
    r.received += static_cast<std::uint32_t>(length);
}

inline void Responder::advance(QueuePairIndex index, bool last, bool ack_request) {
    ResponderState& r = state_.responders[index];
    r.expected_psn = (r.expected_psn + 1) & kPsnMask;
    r.nak_outstanding = false;
    r.owed &= static_cast<std::uint8_t>(~Owed::kNak);
    if (last) r.message_sequence = (r.message_sequence + 1) & kPsnMask;
    if (ack_request) state_.owe(index, Owed::kAck);
}

inline void Responder::complete_receive(QueuePairIndex index, std::uint32_t length, const std::uint32_t* immediate,
                                        transport::CompletionStatus status) {
    QueuePair& pair = state_.pairs[index];
    state_.completions.push({.id = pair.receives.front().id,
                             .length = length,
                             .immediate = immediate != nullptr ? *immediate : 0,
                             .queue_pair = index,
                             .kind = immediate != nullptr ? transport::CompletionKind::received_immediate
                                                          : transport::CompletionKind::received,
                             .status = status});
    pair.receives.pop();
}

}  // namespace gradstorm::roce
