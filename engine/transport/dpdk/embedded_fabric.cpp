// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/embedded_fabric.h"

#include "engine/transport/dpdk/eal.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <bit>
#include <cassert>

namespace gradstorm::transport::dpdk {
namespace {

Result<void> validate(const EmbeddedFabricOptions& options) {
    if (!eal_started()) return failure(ErrorCode::device, "embedded fabric: start DPDK's environment first");
    if (options.workers == 0 || options.workers > 256) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("embedded fabric: {} workers, 1 to 256 can be joined", options.workers));
    }
    if (options.buffers == 0 || options.buffers > (1u << 20)) {
        return failure(
            ErrorCode::invalid_input,
            fmt::format("embedded fabric: {} packet buffers a worker, 1 to 1048576 are possible", options.buffers));
    }
    if (!std::has_single_bit(options.ring_frames) || options.ring_frames < 2 || options.ring_frames > (1u << 20)) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("embedded fabric: rings of {} frames, use a power of two from 2 to 1048576",
                                   options.ring_frames));
    }
    if (options.payload.size() > wire::kMaxPathMtu) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("embedded fabric: a constant payload of {} bytes, at most {} fit a frame",
                                   options.payload.size(), wire::kMaxPathMtu));
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<EmbeddedFabric>> EmbeddedFabric::create(const EmbeddedFabricOptions& options) {
    if (auto valid = validate(options); !valid) return tl::unexpected(valid.error());
    std::unique_ptr<EmbeddedFabric> made(new EmbeddedFabric(options.payload));
    if (auto built = made->build(options); !built) return tl::unexpected(built.error());
    return made;
}

Result<void> EmbeddedFabric::build(const EmbeddedFabricOptions& options) {
    const std::size_t workers = options.workers;
    step_counts_ = std::make_unique<StepCount[]>(workers);
    for (std::uint32_t w = 0; w < workers; ++w) {
        auto pool = PacketPool::create(options.buffers);
        if (!pool) return tl::unexpected(pool.error());
        pools_.push_back(std::move(*pool));
        ports_.push_back(
            std::unique_ptr<FabricPort>(new FabricPort(static_cast<std::uint16_t>(w), table_, !payload_.empty())));
        FabricPort& port = *ports_.back();
        port.step_count_ = &step_counts_[w];
        port.peers_.resize(workers);
        port.stash_.resize(options.buffers);
        pools_.back().take_all(port.stash_);
    }
    for (std::size_t from = 0; from < workers; ++from) {
        for (std::size_t to = 0; to < workers; ++to) {
            auto frames = make_ring(sizeof(wire::Frame), options.ring_frames);
            if (!frames) return tl::unexpected(frames.error());
            auto buffers = make_ring(sizeof(std::byte*), std::bit_ceil(options.buffers + 1));
            if (!buffers) return tl::unexpected(buffers.error());
            ports_[from]->peers_[to].to = *frames;
            ports_[from]->peers_[to].step_count = &step_counts_[to];
            ports_[to]->peers_[from].from = *frames;
            ports_[from]->peers_[to].buffers_to = *buffers;
            ports_[to]->peers_[from].buffers_from = *buffers;
        }
    }
    return {};
}

Result<rte_ring*> EmbeddedFabric::make_ring(std::size_t element, std::size_t count) {
    const EalLog log;
    rte_ring* ring =
        rte_ring_create_elem(unique_name("ring").c_str(), static_cast<unsigned>(element), static_cast<unsigned>(count),
                             static_cast<int>(rte_socket_id()), RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (ring == nullptr) {
        return failure(ErrorCode::device,
                       fmt::format("embedded fabric: cannot make a ring of {} elements: {}{}: use fewer workers or "
                                   "shorter rings, or give dpdk more memory",
                                   count, rte_strerror(rte_errno), log.reason()));
    }
    rings_.push_back(ring);
    return ring;
}

EmbeddedFabric::~EmbeddedFabric() {
    for (rte_ring* ring : rings_) rte_ring_free(ring);
}

void EmbeddedFabric::attach(const wire::MacAddress& mac, std::size_t worker) {
    assert(worker < ports_.size());
    table_.insert(mac, static_cast<fabric::ForwardingTable::Port>(worker));
}

std::size_t EmbeddedFabric::free_buffers(std::size_t worker) const {
    const FabricPort& port = *ports_[worker];
    std::size_t count = port.stash_.size() + port.claimed_count_;
    for (const FabricPort::Peer& peer : port.peers_) count += rte_ring_count(peer.buffers_from);
    return count;
}

std::size_t EmbeddedFabric::memory_mb(const EmbeddedFabricOptions& options) {
    constexpr std::size_t kSpareMb = 32;  // DPDK's own tables
    const std::size_t pools = options.workers * options.buffers * PacketPool::bytes_each();
    const std::size_t rings =
        options.workers * options.workers *
        (options.ring_frames * sizeof(wire::Frame) + std::bit_ceil(options.buffers + 1) * sizeof(std::byte*) + 1024);
    return kSpareMb + ((pools + rings) * 5 / 4 >> 20);
}

}  // namespace gradstorm::transport::dpdk
