// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/fabric/forwarding_table.h"
#include "engine/transport/port_statistics.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_port.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct rte_ring;

namespace gradstorm::transport::dpdk {

class EmbeddedFabric;

struct FabricPortCounters {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t unknown_destination = 0;  ///< dropped: no worker has the destination MAC
    std::uint64_t refused = 0;              ///< calls of send() that met a full ring: back-pressure, not loss
    std::size_t most_waiting = 0;           ///< frames found in one ring
};

/// How often a worker has stepped its port: written by that worker, read by others that wait for its answers.
struct alignas(128) StepCount {
    std::atomic<std::uint32_t> steps{0};
};

/// A worker's place in the embedded fabric. A frame is a 16-byte handle that goes, by its destination MAC, through a
/// single-producer single-consumer ring to the worker that has that address; its bytes stay where they are. Buffers
/// come from a last-in-first-out stash of the worker's own pool and return through a second ring for each pair.
///
/// What a frame costs is its cache lines' way from one core to the other and back: those of headers and ICRC, a single
/// one where frames are gathered. So both directions run one burst ahead of the caller: free buffers are claimed for
/// writing, and frames in the rings fetched for reading, while he still works on the burst before. Metadata of packet
/// buffers is never touched.
///
/// One worker's thread alone, after EmbeddedFabric has made it. Aligned so that no two workers write to one line.
class alignas(128) FabricPort {
public:
    FabricPort(const FabricPort&) = delete;
    FabricPort& operator=(const FabricPort&) = delete;
    FabricPort(FabricPort&&) = default;

    std::size_t allocate(std::span<wire::Frame> out);
    std::size_t send(std::span<const wire::Frame> frames);
    std::size_t receive(std::span<wire::Frame> out);
    void free(std::span<const wire::Frame> frames);
    [[nodiscard]] std::size_t room();
    Instant advance(Instant) {
        step_count_->steps.store(step_count_->steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return kNoDeadline;
    }
    void mark_deliveries();
    /// Taken by the receivers, and answered: each has ended the step in which it took the last of them.
    [[nodiscard]] bool deliveries_passed();

    [[nodiscard]] const FabricPortCounters& counters() const { return counters_; }
    [[nodiscard]] PortStatistics statistics() const;

private:
    friend class EmbeddedFabric;

    /// The rings between this worker and one other (or itself).
    struct Peer {
        rte_ring* to = nullptr;          // frames we send
        rte_ring* from = nullptr;        // frames we receive
        rte_ring* buffers_to = nullptr;  // its buffers that we give back
        rte_ring* buffers_from = nullptr;
        const StepCount* step_count = nullptr;
        std::uint32_t mark = 0;      // where `to` stood in mark_deliveries()
        bool taken = true;           // everything up to the mark
        std::uint32_t taken_at = 0;  // the peer's step in which we saw that
    };

    FabricPort(std::uint16_t worker, const fabric::ForwardingTable& table, bool gathered)
        : worker_(worker), table_(&table), gathered_(gathered) {}

    static constexpr std::size_t kAhead = 32;  // frames, either way

    void claim_ahead();
    void collect_returned();
    std::size_t dequeue(std::span<wire::Frame> out);
    void give_back(std::uint16_t owner, std::span<const wire::Frame> frames);
    std::size_t least_room() const;

    [[nodiscard]] static bool answered(Peer& peer);

    std::uint16_t worker_;
    StepCount* step_count_ = nullptr;
    const fabric::ForwardingTable* table_;
    bool gathered_;
    std::vector<Peer> peers_;        // by worker
    std::vector<std::byte*> stash_;  // free buffers of our own, the most recently used last
    std::array<std::byte*, 2 * kAhead>
        claimed_{};  // free buffers on their way into our cache, the first claimed_count_
    std::size_t claimed_count_ = 0;
    std::array<wire::Frame, kAhead> fetched_{};  // arrived frames on their way into our cache: next_fetched_ and behind
    std::size_t next_fetched_ = 0;
    std::size_t fetched_end_ = 0;
    std::size_t next_from_ = 0;      // whom receive() asks first
    std::size_t next_returned_ = 0;  // whom collect_returned() asks first
    std::size_t room_at_least_ = 0;  // what room() knew last, less what was sent since: rings only empty besides
    FabricPortCounters counters_;
};
static_assert(wire::MarksDeliveries<FabricPort>);

}  // namespace gradstorm::transport::dpdk
