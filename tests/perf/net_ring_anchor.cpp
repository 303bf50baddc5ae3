// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/net_ring_anchor.h"

#include "tests/perf/core_pair.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gradstorm::perf {
namespace {

constexpr unsigned kBurst = 32;
constexpr unsigned kBuffers = 4096;
constexpr unsigned kRing = 1024;
constexpr unsigned kCache = 256;

void require(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string("net_ring anchor: ") + what);
}

/// A net_ring port whose receive side is its send side, made once.
class RingPort {
public:
    static RingPort& instance() {
        static RingPort port;
        return port;
    }

    std::uint16_t number = 0;
    rte_mempool* pool = nullptr;

private:
    RingPort() {
        constexpr auto kDataRoom = static_cast<std::uint16_t>(8192 + RTE_PKTMBUF_HEADROOM);
        pool = rte_pktmbuf_pool_create("anchor", kBuffers - 1, kCache, 0, kDataRoom, SOCKET_ID_ANY);
        require(pool != nullptr, "no memory for 4,096 buffers");
        rte_ring* ring = rte_ring_create("anchor", kRing, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        require(ring != nullptr, "no memory for the ring");
        const int made = rte_eth_from_ring(ring);
        require(made >= 0, "no net_ring port");
        number = static_cast<std::uint16_t>(made);
        const rte_eth_conf configuration{};
        require(rte_eth_dev_configure(number, 1, 1, &configuration) == 0, "cannot configure");
        require(rte_eth_rx_queue_setup(number, 0, kRing, 0, nullptr, pool) == 0, "no receive queue");
        require(rte_eth_tx_queue_setup(number, 0, kRing, 0, nullptr) == 0, "no send queue");
        require(rte_eth_dev_start(number) == 0, "cannot start");
    }
};

}  // namespace

double net_ring_mpps(std::chrono::milliseconds window, std::size_t frame_bytes) {
    const RingPort& port = RingPort::instance();
    std::uint64_t received = 0;
    bool registered = true;

    CorePair::Side sender;
    // A thread that DPDK knows has a cache of the pool: without it the anchor would be slower than it needs to be.
    sender.start = [&] { registered &= rte_thread_register() == 0; };
    sender.step = [&] {
        std::array<rte_mbuf*, kBurst> packets;
        if (rte_pktmbuf_alloc_bulk(port.pool, packets.data(), kBurst) != 0) return;
        for (rte_mbuf* packet : packets) {
            packet->data_len = static_cast<std::uint16_t>(frame_bytes);
            packet->pkt_len = static_cast<std::uint32_t>(frame_bytes);
        }
        const std::uint16_t sent = rte_eth_tx_burst(port.number, 0, packets.data(), kBurst);
        if (sent < kBurst) rte_pktmbuf_free_bulk(packets.data() + sent, kBurst - sent);
    };
    sender.finish = [] { rte_thread_unregister(); };

    const auto drain = [&] {
        std::array<rte_mbuf*, kBurst> packets;
        const std::uint16_t count = rte_eth_rx_burst(port.number, 0, packets.data(), kBurst);
        if (count != 0) rte_pktmbuf_free_bulk(packets.data(), count);
        received += count;
        return count;
    };
    CorePair::Side receiver;
    receiver.start = sender.start;
    receiver.step = drain;
    receiver.count = [&] { return received; };
    receiver.finish = [&] {
        while (drain() != 0) {
        }
        rte_thread_unregister();
    };

    const double rate = CorePair::millions_per_second(sender, receiver, window);
    require(registered, "DPDK does not take our threads");
    return rate;
}

}  // namespace gradstorm::perf
