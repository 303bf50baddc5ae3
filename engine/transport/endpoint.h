// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/transport/queue_pair.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::transport {

/// What one HCA address of an endpoint has sent and received since it was made. Frames count once for each time they
/// are on the wire; wire bytes hold Ethernet header to FCS plus 20 bytes of preamble and gap for each frame.
struct HcaCounters {
    std::uint64_t tx_data_frames = 0;  ///< requests (and read responses) of class data, first transmissions
    std::uint64_t tx_clear_to_send_frames = 0;
    std::uint64_t tx_ack_frames = 0;            ///< ACK and NAK
    std::uint64_t tx_retransmitted_frames = 0;  ///< requests sent again, of either class, and read responses
    std::uint64_t tx_cnp_frames = 0;
    std::uint64_t tx_wire_bytes = 0;       ///< all of the above
    std::uint64_t tx_data_wire_bytes = 0;  ///< of tx_data_frames alone
    std::uint64_t tx_payload_bytes = 0;    ///< of tx_data_frames: each byte of a message once
    std::uint64_t rx_frames = 0;
    std::uint64_t rx_wire_bytes = 0;
    std::uint64_t rx_payload_bytes = 0;  ///< accepted in order
    std::uint64_t rx_ecn_marked_frames = 0;
    std::uint64_t rx_cnp_frames = 0;
    std::uint64_t rx_duplicate_frames = 0;
    std::uint64_t rx_out_of_order_frames = 0;  ///< behind a gap, answered by a NAK
    std::uint64_t rx_icrc_errors = 0;
    std::uint64_t rx_discarded_frames = 0;  ///< no such queue pair, not ours, malformed
    std::uint64_t nak_sequence_received = 0;
    std::uint64_t rnr_nak_received = 0;
    std::uint64_t timeouts = 0;

    HcaCounters& operator+=(const HcaCounters& other);
    friend HcaCounters operator-(HcaCounters a, const HcaCounters& b);
    friend bool operator==(const HcaCounters&, const HcaCounters&) = default;
};

/// One worker's way to the network through one port: a protection domain, a completion queue, and the queue pairs on
/// it. An endpoint hosts one real HCA or many emulated ones; queue pairs name theirs by index.
///
/// Thread: control calls before the run, from the thread that made the endpoint; afterwards everything from the owning
/// worker. Data-path calls never block, throw, allocate or log, and are virtual once a batch.
class Endpoint {
public:
    Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;
    virtual ~Endpoint() = default;

    // --- control
    [[nodiscard]] virtual std::size_t hca_count() const = 0;
    /// Registers [address, address + length) for local and remote access by every queue pair of this endpoint. The
    /// memory stays the caller's and must outlive the endpoint. Errors: invalid_input (an empty range, or one beyond
    /// the address space), device (no key left, the device refuses).
    [[nodiscard]] virtual Result<MemoryRegion> register_memory(std::uint64_t address, std::uint64_t length) = 0;
    /// Makes a queue pair, which lives as long as the endpoint, and grows the completion queue by its depths. Errors:
    /// invalid_input (an attribute out of its range), device (no queue pair number left).
    [[nodiscard]] virtual Result<QueuePairIndex> create_queue_pair(const QueuePairAttributes& attributes) = 0;
    /// What the peer's connect() takes.
    [[nodiscard]] virtual QueuePairAddress address_of(QueuePairIndex queue_pair) const = 0;
    /// Once a queue pair. Error: invalid_input (path MTU or address family differ, numbers out of range, connected
    /// already), naming both ends.
    [[nodiscard]] virtual Result<void> connect(QueuePairIndex queue_pair, const QueuePairAddress& peer) = 0;
    [[nodiscard]] virtual HcaCounters counters(std::size_t hca) const = 0;
    /// One line about a queue pair for the report of a failure: its ends, where it stands, and, if it failed, why and
    /// what that usually means.
    [[nodiscard]] virtual std::string describe(QueuePairIndex queue_pair) const = 0;

    // --- data path
    /// Takes a prefix of the requests and returns its length; 0 when the send queue in front is full, or when too many
    /// completions wait for poll(): the completion queue never overflows. The slot of a request is free again when it,
    /// or a later one of its queue pair, has completed; its buffer is the endpoint's until then.
    virtual std::size_t post(std::span<const WorkRequest> requests) = 0;
    /// Takes a prefix of the requests and returns its length; 0 when the receive queue in front, or the completion
    /// queue, is full. The buffers are the endpoint's until their completion. Of a failed queue pair everything
    /// completes as flushed.
    virtual std::size_t post_receive(std::span<const ReceiveRequest> requests) = 0;
    /// Moves completions to a prefix of `out` and returns its length, less than `out` when no more are there. Those of
    /// one queue pair and direction come in the order of their requests.
    virtual std::size_t poll(std::span<Completion> out) = 0;
    /// Moves frames and timers: receive before send. Back ends that work by themselves (verbs) return no work.
    virtual StepResult step(Instant now) = 0;
};

}  // namespace gradstorm::transport
