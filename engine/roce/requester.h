// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/roce/hca_state.h"
#include "engine/transport/queue_pair.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_codec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gradstorm::roce {

/// The sending half of every queue pair of an HCA: cuts work requests into frames, keeps at most a window of them in
/// flight, asks for acknowledgements, goes back N on a NAK or when none comes in time, and completes requests in order.
///
/// AckReq is set every 64 frames, but at least four times a window; and at the end of a message when nothing is posted
/// behind it, when 32 frames went by, or when a quarter of the send queue did. So a full send queue or window always
/// has an acknowledgement on its way, at any depth.
///
/// The timeout starts with the first frame in flight and anew with each progress; without progress it doubles with each
/// retry, up to 64 times its value, as the adaptive retransmission of NICs does: a peer that was kept from running for
/// a while is no dead peer. `retry_limit` counts retransmissions without progress, whatever caused them.
class Requester {
public:
    explicit Requester(HcaState& state) : state_(state) {}

    /// Takes requests, all of one queue pair, from the front as long as there is room; returns how many.
    std::size_t post(std::span<const transport::WorkRequest> requests);

    [[nodiscard]] bool can_send(QueuePairIndex index) const {
        const RequesterState& r = state_.requesters[index];
        return r.cursor != r.tail && !r.waiting && r.next - r.unacknowledged < r.window;
    }

    /// Builds frames of one queue pair into a prefix of `frames` and returns its length.
    std::size_t take_turn(QueuePairIndex index, std::span<wire::Frame> frames);

    /// An ACK or NAK arrived.
    void acknowledged(QueuePairIndex index, std::uint32_t psn, std::uint8_t syndrome);
    void read_response(QueuePairIndex index, const wire::DecodedFrame& frame);
    /// The alarm of the queue pair rang; maybe too early.
    void alarm(QueuePairIndex index, Instant until);

private:
    [[nodiscard]] bool has_local_access(const transport::WorkRequest& request) const;
    bool begin_message(QueuePairIndex index, const SendEntry& entry);
    std::size_t build_onlys(QueuePairIndex index, std::span<wire::Frame> frames);
    std::size_t build_middles(QueuePairIndex index, const SendEntry& entry, std::span<wire::Frame> frames);
    void build_one(QueuePairIndex index, const SendEntry& entry, wire::Frame& frame);
    template <wire::TemplateKind S>
    void build_shaped(QueuePair& pair, const SendEntry& entry, std::uint32_t psn_word, std::uint64_t offset,
                      wire::Frame& frame);
    void asked(RequesterState& r, bool ack_request, bool last) const;
    void build_other(QueuePair& pair, const SendEntry& entry, wire::Opcode opcode, bool ack_request,
                     std::uint32_t payload, wire::Frame& frame, const RequesterState& r);
    [[nodiscard]] bool wants_ack(const RequesterState& r, bool last) const;
    void account(QueuePair& pair, RequesterState& r, const SendEntry& entry, std::uint32_t frames,
                 std::uint16_t frame_length, std::uint32_t payload, std::uint32_t psns);

    bool acknowledge_up_to(QueuePairIndex index, std::uint32_t target);
    void complete_head(QueuePairIndex index);
    void progressed(QueuePairIndex index);
    void place_cursor(QueuePairIndex index, std::uint32_t psn);
    void go_back(QueuePairIndex index, std::uint32_t psn);
    void retry_from(QueuePairIndex index, std::uint32_t psn);
    [[nodiscard]] Instant next_timeout(QueuePairIndex index) const;
    void lost_read_response(QueuePairIndex index);
    void negative(QueuePairIndex index, std::uint32_t psn, std::uint8_t syndrome);
    void receiver_not_ready(QueuePairIndex index, std::uint32_t psn, std::uint8_t timer_code);

    HcaState& state_;
};

}  // namespace gradstorm::roce
