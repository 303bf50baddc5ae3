// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/packet_pool.h"

#include "engine/transport/dpdk/eal.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace gradstorm::transport::dpdk {

static_assert(sizeof(rte_mbuf) == kPacketMetadata);

std::string unique_name(const char* kind) {
    static std::atomic<unsigned> next{0};
    return fmt::format("gs_{}_{}", kind, next++);
}

Result<PacketPool> PacketPool::create(std::size_t buffers, std::size_t bytes, std::size_t cached) {
    const EalLog log;
    rte_mempool* pool = rte_pktmbuf_pool_create(unique_name("pool").c_str(), static_cast<unsigned>(buffers),
                                                static_cast<unsigned>(cached), 0, static_cast<std::uint16_t>(bytes),
                                                static_cast<int>(rte_socket_id()));
    if (pool == nullptr) {
        return failure(ErrorCode::device,
                       fmt::format("dpdk: cannot make {} packet buffers: {}{}: use fewer, or give dpdk more memory",
                                   buffers, rte_strerror(rte_errno), log.reason()));
    }
    return PacketPool(pool, buffers);
}

PacketPool::PacketPool(PacketPool&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PacketPool& PacketPool::operator=(PacketPool&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(size_, other.size_);
    return *this;
}

PacketPool::~PacketPool() { rte_mempool_free(pool_); }

void PacketPool::take_all(std::span<std::byte*> out) {
    for (std::byte*& buffer : out.first(size_)) {
        void* packet = nullptr;
        if (rte_mempool_get(pool_, &packet) != 0) break;
        buffer = buffer_of(static_cast<rte_mbuf*>(packet));
    }
}

void PacketPool::put(std::span<std::byte* const> buffers) {
    for (std::byte* buffer : buffers) rte_mempool_put(pool_, packet_of(buffer));
    rte_mempool_cache* cache = rte_mempool_default_cache(pool_, rte_lcore_id());
    if (cache != nullptr) rte_mempool_cache_flush(cache, pool_);
}

std::size_t PacketPool::bytes_each(std::size_t bytes) {
    // Header of the pool's element and the padding that spreads elements over memory channels: two cache lines each.
    return kPacketMetadata + bytes + std::size_t{4} * 64;
}

}  // namespace gradstorm::transport::dpdk
