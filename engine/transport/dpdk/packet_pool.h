// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/wire/frame.h"

#include <cstddef>
#include <span>
#include <string>

struct rte_mempool;
struct rte_mbuf;

namespace gradstorm::transport::dpdk {

/// Bytes of mbuf metadata in front of each packet buffer of a PacketPool: the buffer of an mbuf, and the mbuf of a
/// buffer, are computed, never looked up.
inline constexpr std::size_t kPacketMetadata = 128;

[[nodiscard]] inline std::byte* buffer_of(rte_mbuf* packet) {
    return reinterpret_cast<std::byte*>(packet) + kPacketMetadata;
}
[[nodiscard]] inline rte_mbuf* packet_of(std::byte* buffer) {
    return reinterpret_cast<rte_mbuf*>(buffer - kPacketMetadata);
}

/// DPDK packet buffers of one size, 64-byte aligned. Owns the pool's memory.
class PacketPool {
public:
    /// `cached`: buffers that each thread known to DPDK (eal.h) may keep at hand, at most 2/3 of all.
    /// Errors: device, when DPDK's memory does not hold so many.
    [[nodiscard]] static Result<PacketPool> create(std::size_t buffers, std::size_t bytes = wire::kFrameBufferSize,
                                                   std::size_t cached = 0);

    PacketPool(PacketPool&& other) noexcept;
    PacketPool& operator=(PacketPool&& other) noexcept;
    ~PacketPool();

    [[nodiscard]] rte_mempool* get() const { return pool_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Takes every buffer out of the pool; `out` has size() places.
    void take_all(std::span<std::byte*> out);
    /// For any thread to take: none stay at hand.
    void put(std::span<std::byte* const> buffers);

    /// DPDK memory that one buffer takes, for sizing EalOptions::memory_mb.
    [[nodiscard]] static std::size_t bytes_each(std::size_t bytes = wire::kFrameBufferSize);

private:
    PacketPool(rte_mempool* pool, std::size_t size) : pool_(pool), size_(size) {}

    rte_mempool* pool_ = nullptr;
    std::size_t size_ = 0;
};

/// A name that no other object of this process has; DPDK wants names at most 25 characters long.
[[nodiscard]] std::string unique_name(const char* kind);

}  // namespace gradstorm::transport::dpdk
