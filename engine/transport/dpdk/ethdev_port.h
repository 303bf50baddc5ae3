// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/fabric/constant_payload.h"
#include "engine/transport/dpdk/packet_pool.h"
#include "engine/transport/port_statistics.h"
#include "engine/wire/address.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_port.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct rte_mbuf;

namespace gradstorm::transport::dpdk {

struct EthdevOptions {
    /// A device that DPDK makes ("net_memif,role=server,socket=/run/x.sock", see device_text.h), or the PCI address of
    /// one that start_eal() was given. Sizes that are left out are chosen so that a frame of any RoCE path MTU fits one
    /// slot.
    std::string device;
    std::uint32_t path_mtu = 4096;  ///< longest payload of a frame that the device has to carry
    std::size_t send_buffers = 1024;
    std::size_t receive_buffers = 2048;
    std::uint16_t descriptors = 512;  ///< of each direction; a device may have others
    /// How long a memif client may wait for its server to listen.
    std::chrono::milliseconds connect{5'000};
    std::span<const std::byte> payload{};  ///< constant payload of send buffers (synthetic mode), or nothing; copied
};

struct EthdevCounters {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t refused = 0;        ///< bursts that the device did not take whole; the rest is sent later
    std::uint64_t joined = 0;         ///< frames that came in pieces and were copied into one buffer
    std::uint64_t too_long = 0;       ///< received and dropped: larger than a packet buffer
    std::uint64_t device_missed = 0;  ///< the device had no room for them (its own count)
    std::uint64_t device_errors = 0;  ///< of sending and receiving (its own count)
};

/// An Ethernet port of DPDK as a wire::FramePort: one receive and one send queue of any NIC, or of a virtual device.
/// Received frames come from a pool of their own, so that send buffers keep their constant payload. This is the one
/// port that writes packet metadata.
///
/// open() and the destructor from the control thread; everything else from one worker.
class EthdevPort {
public:
    /// Makes or takes the device and starts it. Ignores SIGPIPE from then on, unless the process handles it: a device
    /// whose other end goes away must not end the process. Errors: invalid_input (no such device), device (DPDK
    /// refuses, frames of the path MTU are too long, another server has the socket), timeout (a memif client finds no
    /// server).
    [[nodiscard]] static Result<std::unique_ptr<EthdevPort>> open(const EthdevOptions& options);

    EthdevPort(const EthdevPort&) = delete;
    EthdevPort& operator=(const EthdevPort&) = delete;
    ~EthdevPort();

    // --- wire::FramePort
    std::size_t allocate(std::span<wire::Frame> out);
    /// Takes what finds room in the queue in front of the device; what the device refuses is tried again by advance().
    std::size_t send(std::span<const wire::Frame> frames);
    std::size_t receive(std::span<wire::Frame> out);
    void free(std::span<const wire::Frame> frames);
    [[nodiscard]] std::size_t room() const { return kWaiting - waiting_.size(); }
    Instant advance(Instant now);

    // --- control
    [[nodiscard]] wire::MacAddress mac() const;
    [[nodiscard]] bool link_up() const;
    /// Blocks until the other end is there. Error: timeout.
    [[nodiscard]] Result<void> wait_for_link(std::chrono::milliseconds limit);
    [[nodiscard]] std::string driver() const;
    [[nodiscard]] EthdevCounters counters() const;
    [[nodiscard]] PortStatistics statistics() const;

    /// DPDK memory that open() needs, for EalOptions::memory_mb, in MB and with some to spare.
    [[nodiscard]] static std::size_t memory_mb(const EthdevOptions& options);

private:
    static constexpr std::size_t kWaiting = 256;  // frames that may wait for the device

    EthdevPort(PacketPool send_pool, PacketPool receive_pool, std::span<const std::byte> payload);
    Result<void> attach(const EthdevOptions& options);
    Result<void> start(const EthdevOptions& options);
    Result<void> start_device(std::chrono::milliseconds limit) const;
    std::size_t send_now(std::span<const wire::Frame> frames);
    void flush();
    bool accept(rte_mbuf* packet, wire::Frame& frame);
    rte_mbuf* join(rte_mbuf* pieces);

    PacketPool send_pool_;
    PacketPool receive_pool_;
    fabric::ConstantPayload payload_;
    std::vector<rte_mbuf*> waiting_;  // sent, but not taken by the device yet, in order
    std::string device_;              // as the user wrote it, for messages
    std::string virtual_device_;      // to be removed again; empty for PCI
    std::uint16_t port_ = 0;
    bool attached_ = false;
    bool started_ = false;
    bool worker_known_ = false;  // to DPDK
    EthdevCounters counters_;
};
static_assert(wire::FramePort<EthdevPort>);

}  // namespace gradstorm::transport::dpdk
