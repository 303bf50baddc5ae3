// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "base/time.h"
#include "engine/transport/endpoint.h"
#include "engine/transport/queue_pair.h"
#include "engine/wire/frame_codec.h"
#include "engine/wire/header_template.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gradstorm::roce {

/// A posted work request and the PSNs it takes: one a frame, a READ one for each frame of its response.
struct alignas(64) SendEntry {
    transport::WorkRequest request;
    std::uint32_t first_psn = 0;
    std::uint32_t frames = 0;
};

/// What a requester reads and writes with each frame: one cache line. PSNs are 32-bit counts (psn.h); head, cursor and
/// tail count send entries: [head, cursor) is sent and not acknowledged in full, [cursor, tail) is to be sent.
///
///     unacknowledged <= next <= high        next < high while frames are being retransmitted
struct alignas(64) RequesterState {
    SendEntry* entries = nullptr;
    std::uint32_t mask = 0;  ///< slots of `entries` - 1
    std::uint32_t head = 0;
    std::uint32_t cursor = 0;
    std::uint32_t tail = 0;
    std::uint32_t offset = 0;          ///< bytes of the message at the cursor that were sent
    std::uint32_t unacknowledged = 0;  ///< PSN up to which everything is acknowledged
    std::uint32_t next = 0;            ///< PSN of the next frame
    std::uint32_t high = 0;            ///< PSN behind the last one ever sent
    std::uint32_t posted = 0;          ///< PSN behind the last entry
    std::uint16_t window = 0;          ///< frames in flight
    std::uint16_t ack_interval = 0;    ///< frames from one AckReq to the next
    std::uint16_t since_request = 0;   ///< frames since the last AckReq
    std::uint16_t messages_since_request = 0;
    bool waiting = false;            ///< for the RNR timer
    Instant deadline = kNoDeadline;  ///< of the acknowledgement, or of the RNR wait
};
static_assert(sizeof(RequesterState) == 64);

/// What a responder owes its peer: sent when the port has room, in front of data; never lost, never a queue.
struct Owed {
    static constexpr std::uint8_t kAck = 1;
    static constexpr std::uint8_t kNak = 2;
    static constexpr std::uint8_t kCnp = 4;
};

/// What a responder reads and writes with each frame: one cache line.
struct alignas(64) ResponderState {
    /// The message that frames in order belong to.
    enum class Message : std::uint8_t {
        none,  ///< the next frame starts one
        write,
        send,
        closed,  ///< the queue pair failed: nothing is accepted any more
    };

    const wire::HeaderDeltas* deltas = nullptr;  ///< for payloads of one path MTU
    transport::HcaCounters* counters = nullptr;
    std::uint64_t address = 0;       ///< where the next byte goes
    std::uint32_t remaining = 0;     ///< WRITE: bytes of the message still to come; SEND: room left in the receive
    std::uint32_t received = 0;      ///< bytes of the message that came
    std::uint32_t expected_psn = 0;  ///< 24 bit
    std::uint32_t message_sequence = 0;
    std::uint16_t path_mtu = 0;
    Message message = Message::none;
    std::uint8_t owed = 0;
    std::uint8_t nak_syndrome = 0;
    bool in_owing_list = false;
    bool nak_outstanding = false;  ///< a NAK for expected_psn was sent or is owed: say it once a gap
    Instant next_cnp{Instant::min()};
};
static_assert(sizeof(ResponderState) == 64);

/// A READ request being answered.
struct ReadJob {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint32_t sent = 0;      ///< bytes
    std::uint32_t psn = 0;       ///< of the next response frame, 24 bit
    std::uint32_t last_psn = 0;  ///< of the response, 24 bit
    bool done = false;
    bool repeated = false;  ///< asked for again: its frames count as retransmissions
};

/// READs of one requester under way, as in an adapter's initiator depth.
inline constexpr std::uint32_t kMaxReads = 16;

/// The rest of a queue pair: what is needed once a turn or once a message, and what only errors need.
struct QueuePair {
    // once a turn: one cache line
    transport::HcaCounters* counters = nullptr;
    const wire::HeaderDeltas* deltas = nullptr;        ///< payload of one path MTU
    const wire::HeaderDeltas* empty_deltas = nullptr;  ///< no payload
    std::uint32_t path_mtu = 0;
    std::uint32_t path_mtu_shift = 0;
    Nanoseconds timeout{};
    std::uint32_t send_depth = 0;
    std::uint32_t receive_depth = 0;
    std::uint32_t reads_in_flight = 0;
    bool in_ready_list = false;
    bool answered = false;  ///< its last turn went to READ responses
    bool connected = false;
    bool failed = false;
    bool read_gap_noted = false;  ///< went back for a lost READ response already
    std::uint8_t retries = 0;     ///< retransmissions without progress
    std::uint8_t rnr_retries = 0;
    // once a message
    Ring<transport::ReceiveRequest> receives;
    Ring<ReadJob> read_jobs;
    std::array<wire::HeaderTemplate, wire::kTemplateKinds> templates;
    std::array<wire::ExpectedHeader, wire::kTemplateKinds> expected;

    // seldom
    transport::QueuePairAttributes attributes;
    transport::QueuePairAddress local;
    transport::QueuePairAddress peer;
    wire::FrameHeaders headers;  ///< of frames to the peer: addresses, ports, queue pair number
    std::vector<SendEntry> entries;
    /// What ended it; flushed: a request of the peer's that it refused, ResponderState::nak_syndrome says why.
    transport::CompletionStatus failure = transport::CompletionStatus::success;
};

}  // namespace gradstorm::roce
