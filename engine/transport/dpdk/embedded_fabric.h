// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/fabric/forwarding_table.h"
#include "engine/transport/dpdk/fabric_port.h"
#include "engine/transport/dpdk/packet_pool.h"
#include "engine/wire/address.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct rte_ring;

namespace gradstorm::transport::dpdk {

struct EmbeddedFabricOptions {
    std::size_t workers = 1;
    /// Packet buffers of each worker. Few are fast: their touched lines and pages stay in the nearest caches.
    std::size_t buffers = 512;
    std::size_t ring_frames = 1024;  ///< of each ordered pair of workers; a power of two
    /// The constant payload of synthetic mode, copied: frames are gathered from it (wire/gathered_frame.h). Empty: they
    /// lie in their buffers whole.
    std::span<const std::byte> payload{};
};

/// The network inside one process: pools, rings and ports of its workers, and who has which address. Makes everything
/// before the run; moves nothing itself: the sender's worker puts frames into the receiver's ring.
///
/// Start the EAL first. Create, attach and destroy from the control thread, while no worker runs.
class EmbeddedFabric {
public:
    /// Errors: invalid_input (sizes), device (DPDK's memory is too small).
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedFabric>> create(const EmbeddedFabricOptions& options);

    EmbeddedFabric(const EmbeddedFabric&) = delete;
    EmbeddedFabric& operator=(const EmbeddedFabric&) = delete;
    ~EmbeddedFabric();

    [[nodiscard]] std::size_t worker_count() const { return ports_.size(); }
    [[nodiscard]] FabricPort& port(std::size_t worker) { return *ports_[worker]; }

    /// What all frames share; empty: they are not gathered.
    [[nodiscard]] std::span<const std::byte> shared_payload() const { return payload_; }

    /// Frames for `mac` go to `worker`. Before the run.
    void attach(const wire::MacAddress& mac, std::size_t worker);

    /// Buffers of a worker that lie in its stash or on their way home; all of them when no frame is in use. While no
    /// worker runs.
    [[nodiscard]] std::size_t free_buffers(std::size_t worker) const;

    /// DPDK memory that create() needs, for EalOptions::memory_mb, in MB and with some to spare.
    [[nodiscard]] static std::size_t memory_mb(const EmbeddedFabricOptions& options);

private:
    explicit EmbeddedFabric(std::span<const std::byte> payload) : payload_(payload.begin(), payload.end()) {}
    Result<void> build(const EmbeddedFabricOptions& options);
    Result<rte_ring*> make_ring(std::size_t element, std::size_t count);

    std::vector<std::byte> payload_;
    fabric::ForwardingTable table_;
    std::unique_ptr<StepCount[]> step_counts_;  // by worker
    std::vector<PacketPool> pools_;
    std::vector<rte_ring*> rings_;
    std::vector<std::unique_ptr<FabricPort>> ports_;
};

}  // namespace gradstorm::transport::dpdk
