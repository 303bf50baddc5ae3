// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/wire/address.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradstorm::transport {

/// A queue pair of one endpoint, as a dense index (0, 1, 2, ...) in order of creation; not the QPN on the wire.
using QueuePairIndex = std::uint32_t;

enum class Opcode : std::uint8_t { write, write_with_immediate, send, send_with_immediate, read };

/// Which of the three classes of traffic a work request belongs to; plans and counters keep them apart. (ACKs, the
/// third class, are nobody's work request.)
enum class TrafficClass : std::uint8_t { data, clear_to_send };

/// A work request: the subset of the verbs send work request that every back end has.
struct WorkRequest {
    std::uint64_t id = 0;  ///< comes back in the completion
    std::uint64_t local_address = 0;
    std::uint64_t remote_address = 0;  ///< of write and read
    std::uint32_t length = 0;          ///< bytes; 0 is legal
    std::uint32_t local_key = 0;       ///< lkey; ignored when length is 0
    std::uint32_t remote_key = 0;      ///< rkey of write and read
    std::uint32_t immediate = 0;       ///< of *_with_immediate, host byte order
    QueuePairIndex queue_pair = 0;
    Opcode opcode = Opcode::write;
    TrafficClass traffic_class = TrafficClass::data;
    bool signalled = true;  ///< whether success makes a completion; a failure always does
    bool fence = false;     ///< wait for earlier reads of this queue pair
};

/// A receive: consumed, in order, by send and by *_with_immediate. A write with immediate places no bytes in it.
struct ReceiveRequest {
    std::uint64_t id = 0;
    std::uint64_t local_address = 0;
    std::uint32_t length = 0;
    std::uint32_t local_key = 0;
    QueuePairIndex queue_pair = 0;
};

enum class CompletionStatus : std::uint8_t {
    success,
    local_protection_error,    ///< lkey, bounds or length of the local buffer
    remote_access_error,       ///< the peer refused rkey, bounds or access (NAK)
    remote_invalid_request,    ///< the peer could not accept the request (NAK), e.g. a send larger than its receive
    remote_operational_error,  ///< the peer could not carry the request out (NAK), e.g. a receive with a bad lkey
    retry_exceeded,            ///< no acknowledgement after all retries: peer dead, path broken or MTU mismatch
    rnr_retry_exceeded,        ///< the peer had no receive posted after all retries
    flushed,  ///< given up because its queue pair failed: in an earlier request, or it refused one of the peer's
};
[[nodiscard]] std::string_view to_string(CompletionStatus status);

enum class CompletionKind : std::uint8_t { sent, received, received_immediate };

struct Completion {
    std::uint64_t id = 0;
    std::uint32_t length = 0;     ///< bytes received (sent: 0)
    std::uint32_t immediate = 0;  ///< of received_immediate
    QueuePairIndex queue_pair = 0;
    CompletionKind kind = CompletionKind::sent;
    CompletionStatus status = CompletionStatus::success;
};

/// What a queue pair is made with. Defaults are those of the profile schema.
struct QueuePairAttributes {
    std::uint32_t hca = 0;  ///< which of the endpoint's HCA addresses it lives on
    std::uint32_t send_depth = 128;
    std::uint32_t receive_depth = 512;
    std::uint32_t path_mtu = 4096;      ///< 256, 512, 1024, 2048 or 4096
    std::uint32_t window_frames = 512;  ///< request frames in flight; of the software HCA
    Nanoseconds timeout{1'000'000};     ///< without an acknowledgement, before a retransmission
    std::uint8_t retry_limit = 7;       ///< retransmissions of the same PSN before retry_exceeded
    std::uint8_t rnr_retry_limit = 7;   ///< 7 means for ever, as in the InfiniBand specification
    Nanoseconds rnr_timer{10'000};      ///< what our responder asks for in an RNR NAK (rounded up to a legal code)
    std::uint8_t dscp = 26;
    bool ecn_capable = true;  ///< ECT(0) in the IP header
    std::uint16_t udp_source_port = 0xC000;
    std::uint32_t initial_psn = 0;  ///< 24 bit, of our requests
};

/// Everything the other side has to know of a queue pair to connect to it; exchanged by the rendezvous.
struct QueuePairAddress {
    wire::HcaAddress hca;
    std::uint32_t qpn = 0;          ///< 24 bit, on the wire
    std::uint32_t initial_psn = 0;  ///< of its requests
    std::uint32_t path_mtu = 0;     ///< the ends must agree
};

/// A registered range. In synthetic payload mode the range is an address range that is checked but never touched.
struct MemoryRegion {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::uint32_t local_key = 0;
    std::uint32_t remote_key = 0;
};

}  // namespace gradstorm::transport
