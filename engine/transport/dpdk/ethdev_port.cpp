// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/ethdev_port.h"

#include "engine/transport/dpdk/device_text.h"
#include "engine/transport/dpdk/eal.h"
#include "engine/wire/prefetch.h"

#include <fmt/format.h>
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace gradstorm::transport::dpdk {
namespace {

using wire::Frame;

enum Source : std::uint32_t { kSendPool, kReceivePool };

constexpr std::size_t kBurst = 32;
// Larger than what the largest slot of memif and af_packet holds (8192 B, with our device texts), headroom included:
// then each frame comes in one piece.
constexpr std::size_t kReceiveBufferSize = 8192 + RTE_PKTMBUF_HEADROOM;
constexpr std::uint16_t kQueue = 0;

void ignore_broken_pipes() {
    struct sigaction now{};
    if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

rte_mbuf* outgoing(const Frame& frame) {
    rte_mbuf* packet = packet_of(frame.buffer);
    packet->data_off = frame.offset;
    packet->data_len = frame.length;
    packet->pkt_len = frame.length;
    packet->ol_flags = 0;
    return packet;
}

tl::unexpected<Error> refused(const std::string& device, const char* what, int code, const EalLog& log) {
    return failure(ErrorCode::device, fmt::format("device '{}': {}: {}{}", device, what,
                                                  rte_strerror(code < 0 ? -code : code), log.reason()));
}

/// Buffers that the worker keeps at hand.
std::size_t cached_of(std::size_t buffers) { return std::min<std::size_t>(128, buffers / 2); }

}  // namespace

Result<std::unique_ptr<EthdevPort>> EthdevPort::open(const EthdevOptions& options) {
    if (!eal_started()) {
        return failure(ErrorCode::device, fmt::format("device '{}': start DPDK's environment first", options.device));
    }
    ignore_broken_pipes();
    auto send_pool = PacketPool::create(options.send_buffers, wire::kFrameBufferSize, cached_of(options.send_buffers));
    if (!send_pool) return tl::unexpected(send_pool.error());
    auto receive_pool =
        PacketPool::create(options.receive_buffers, kReceiveBufferSize, cached_of(options.receive_buffers));
    if (!receive_pool) return tl::unexpected(receive_pool.error());
    std::unique_ptr<EthdevPort> port(new EthdevPort(std::move(*send_pool), std::move(*receive_pool), options.payload));
    if (auto attached = port->attach(options); !attached) return tl::unexpected(attached.error());
    if (auto started = port->start(options); !started) return tl::unexpected(started.error());
    return port;
}

EthdevPort::EthdevPort(PacketPool send_pool, PacketPool receive_pool, std::span<const std::byte> payload)
    : send_pool_(std::move(send_pool)), receive_pool_(std::move(receive_pool)), payload_(payload) {
    waiting_.reserve(kWaiting);
    std::vector<std::byte*> buffers(send_pool_.size());
    send_pool_.take_all(buffers);
    for (std::byte* buffer : buffers) {
        payload_.fill(buffer);
        packet_of(buffer)->data_len = 0;  // allocate() looks at where the last frame ended
    }
    send_pool_.put(buffers);
}

Result<void> EthdevPort::attach(const EthdevOptions& options) {
    device_ = with_default_arguments(options.device);
    if (auto large = refuse_small_slots(device_); !large) return large;
    const EalLog log;
    std::string name = device_;
    if (is_virtual(device_)) {
        if (auto way = make_way_for_server(device_); !way) return way;
        const auto comma = std::min(device_.find(','), device_.size());
        name = device_.substr(0, comma) + "_" + unique_name("dev");
        const std::string arguments = comma < device_.size() ? device_.substr(comma + 1) : "";
        if (const int code = rte_vdev_init(name.c_str(), arguments.c_str()); code != 0) {
            const std::string reason = log.reason();
            if (code == -1 && reason.empty()) {  // what the bus answers when no driver matches; it logs nothing
                return failure(ErrorCode::invalid_input,
                               fmt::format("device '{}': dpdk has no driver of that name; among those it has are "
                                           "net_memif, net_af_packet and net_null",
                                           device_));
            }
            return refused(device_, "cannot be made", code, log);
        }
        virtual_device_ = name;
    }
    if (rte_eth_dev_get_port_by_name(name.c_str(), &port_) != 0) {
        return failure(
            ErrorCode::invalid_input,
            fmt::format("device '{}': no such port{}: it must be a driver of DPDK (net_...) or a PCI address "
                        "that DPDK may use",
                        device_, log.reason()));
    }
    attached_ = true;
    return {};
}

Result<void> EthdevPort::start(const EthdevOptions& options) {
    const EalLog log;
    rte_eth_dev_info info{};
    if (const int code = rte_eth_dev_info_get(port_, &info); code != 0) {
        return refused(device_, "does not say what it can", code, log);
    }
    const auto mtu = mtu_for(device_, options.path_mtu, info.max_mtu, info.max_rx_pktlen);
    if (!mtu) return tl::unexpected(mtu.error());
    rte_eth_conf configuration{};
    configuration.rxmode.mtu = *mtu;  // 0 would be 1,500
    if (const int code = rte_eth_dev_configure(port_, 1, 1, &configuration); code != 0) {
        return refused(device_, "cannot be configured", code, log);
    }
    std::uint16_t receive_descriptors = options.descriptors;
    std::uint16_t send_descriptors = options.descriptors;
    if (const int code = rte_eth_dev_adjust_nb_rx_tx_desc(port_, &receive_descriptors, &send_descriptors); code != 0) {
        return refused(device_, "refuses the number of descriptors", code, log);
    }
    const auto socket = static_cast<unsigned>(std::max(0, rte_eth_dev_socket_id(port_)));
    if (const int code =
            rte_eth_rx_queue_setup(port_, kQueue, receive_descriptors, socket, nullptr, receive_pool_.get());
        code != 0) {
        return refused(device_, "cannot set up its receive queue", code, log);
    }
    if (const int code = rte_eth_tx_queue_setup(port_, kQueue, send_descriptors, socket, nullptr); code != 0) {
        return refused(device_, "cannot set up its send queue", code, log);
    }
    if (auto started = start_device(options.connect); !started) return started;
    started_ = true;
    // Emulated HCAs have addresses of their own. Virtual devices that deliver everything anyway refuse: no error.
    rte_eth_promiscuous_enable(port_);
    return {};
}

Result<void> EthdevPort::start_device(std::chrono::milliseconds limit) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const EalLog log;
        const int code = rte_eth_dev_start(port_);
        if (code == 0) return {};
        if (!is_memif_client(device_)) return refused(device_, "cannot be started", code, log);
        // DPDK's memif client tries once: until the server listens, trying again is ours.
        if (std::chrono::steady_clock::now() >= deadline) {
            return failure(ErrorCode::timeout,
                           fmt::format("device '{}': no server listens after {} ms: start the other end first", device_,
                                       limit.count()));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

Result<void> EthdevPort::wait_for_link(std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    // A server whose device has not started yet turns a client away, and DPDK's client does not come back by itself.
    constexpr std::chrono::milliseconds kClientPatience{300};
    const auto deadline = Clock::now() + limit;
    auto next_try = Clock::now() + kClientPatience;
    while (!link_up()) {
        if (Clock::now() >= deadline) {
            return failure(ErrorCode::timeout, fmt::format("device '{}': no link after {} ms: is the other end up?",
                                                           device_, limit.count()));
        }
        if (is_memif_client(device_) && Clock::now() >= next_try) {
            const EalLog log;
            rte_eth_dev_stop(port_);
            if (auto again = start_device(limit); !again) return again;
            next_try = Clock::now() + kClientPatience;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

EthdevPort::~EthdevPort() {
    if (!waiting_.empty()) rte_pktmbuf_free_bulk(waiting_.data(), static_cast<unsigned>(waiting_.size()));
    if (!attached_) return;
    const EalLog log;  // what goes wrong while closing is nobody's concern any more
    if (started_) rte_eth_dev_stop(port_);
    rte_eth_dev_close(port_);
    if (!virtual_device_.empty()) rte_vdev_uninit(virtual_device_.c_str());
}

std::size_t EthdevPort::allocate(std::span<Frame> out) {
    std::size_t count = 0;
    std::array<void*, kBurst> packets;
    std::size_t step = kBurst;
    while (count < out.size() && step > 0) {
        step = std::min(step, out.size() - count);
        if (rte_mempool_get_bulk(send_pool_.get(), packets.data(), static_cast<unsigned>(step)) != 0) {
            step /= 2;  // all or nothing: less may be there
            continue;
        }
        for (std::size_t i = 0; i < step; ++i) {
            auto* packet = static_cast<rte_mbuf*>(packets[i]);
            std::byte* buffer = buffer_of(packet);
            payload_.restore({buffer, packet->data_off, packet->data_len, kSendPool});
            wire::prefetch_to_build(buffer, false);
            out[count++] = {buffer, wire::kPayloadAnchor, 0, kSendPool};
        }
    }
    return count;
}

std::size_t EthdevPort::send(std::span<const Frame> frames) {
    const std::size_t taken = std::min(frames.size(), room());
    if (!waiting_.empty()) flush();
    const std::size_t sent = waiting_.empty() ? send_now(frames.first(taken)) : 0;
    for (const Frame& frame : frames.subspan(sent, taken - sent)) waiting_.push_back(outgoing(frame));
    return taken;
}

/// Past the queue, which is empty, as far as the device takes them.
std::size_t EthdevPort::send_now(std::span<const Frame> frames) {
    std::array<rte_mbuf*, kBurst> packets;
    std::size_t sent = 0;
    while (sent < frames.size()) {
        const std::size_t burst = std::min(kBurst, frames.size() - sent);
        for (std::size_t i = 0; i < burst; ++i) packets[i] = outgoing(frames[sent + i]);
        const std::uint16_t taken = rte_eth_tx_burst(port_, kQueue, packets.data(), static_cast<std::uint16_t>(burst));
        sent += taken;
        if (taken < burst) {
            ++counters_.refused;
            break;
        }
    }
    counters_.sent += sent;
    return sent;
}

void EthdevPort::flush() {
    std::size_t sent = 0;
    while (sent < waiting_.size()) {
        const auto burst = static_cast<std::uint16_t>(std::min(kBurst, waiting_.size() - sent));
        const std::uint16_t taken = rte_eth_tx_burst(port_, kQueue, waiting_.data() + sent, burst);
        sent += taken;
        if (taken < burst) {
            ++counters_.refused;
            break;
        }
    }
    counters_.sent += sent;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(sent));
}

Instant EthdevPort::advance(Instant) {
    if (!worker_known_) [[unlikely]] {
        register_worker_thread();
        worker_known_ = true;
    }
    if (!waiting_.empty()) flush();
    return kNoDeadline;
}

std::size_t EthdevPort::receive(std::span<Frame> out) {
    std::array<rte_mbuf*, kBurst> packets;
    std::size_t count = 0;
    while (count < out.size()) {
        const auto wanted = static_cast<std::uint16_t>(std::min(kBurst, out.size() - count));
        const std::uint16_t arrived = rte_eth_rx_burst(port_, kQueue, packets.data(), wanted);
        for (std::uint16_t i = 0; i < arrived; ++i) {
            if (!accept(packets[i], out[count])) continue;
            wire::prefetch_to_read(out[count++], false);
        }
        counters_.received += arrived;
        if (arrived < wanted) break;
    }
    return count;
}

bool EthdevPort::accept(rte_mbuf* packet, Frame& frame) {
    if (packet->nb_segs > 1) {
        packet = join(packet);
        if (packet == nullptr) {
            ++counters_.too_long;
            return false;
        }
    }
    frame = {buffer_of(packet), packet->data_off, packet->data_len, kReceivePool};
    return true;
}

/// Frames in pieces come from devices whose slots are smaller than a frame: copied behind the first piece.
rte_mbuf* EthdevPort::join(rte_mbuf* pieces) {
    if (rte_pktmbuf_linearize(pieces) != 0) {
        rte_pktmbuf_free(pieces);
        return nullptr;
    }
    ++counters_.joined;
    return pieces;
}

void EthdevPort::free(std::span<const Frame> frames) {
    std::array<void*, kBurst> packets;
    while (!frames.empty()) {
        const std::uint32_t source = frames.front().source;
        std::size_t run = 0;
        for (; run < std::min(kBurst, frames.size()) && frames[run].source == source; ++run) {
            rte_mbuf* packet = packet_of(frames[run].buffer);
            // For allocate(): what an unsent frame may have left on the constant payload.
            packet->data_off = frames[run].offset;
            packet->data_len = frames[run].length;
            packets[run] = packet;
        }
        const PacketPool& pool = source == kSendPool ? send_pool_ : receive_pool_;
        rte_mempool_put_bulk(pool.get(), packets.data(), static_cast<unsigned>(run));
        frames = frames.subspan(run);
    }
}

wire::MacAddress EthdevPort::mac() const {
    wire::MacAddress mac;
    rte_ether_addr address{};
    if (rte_eth_macaddr_get(port_, &address) == 0) std::copy_n(address.addr_bytes, 6, mac.octets.begin());
    return mac;
}

bool EthdevPort::link_up() const {
    rte_eth_link link{};
    return rte_eth_link_get_nowait(port_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

std::string EthdevPort::driver() const {
    rte_eth_dev_info info{};
    if (rte_eth_dev_info_get(port_, &info) != 0 || info.driver_name == nullptr) return {};
    return info.driver_name;
}

EthdevCounters EthdevPort::counters() const {
    EthdevCounters counters = counters_;
    rte_eth_stats stats{};
    if (rte_eth_stats_get(port_, &stats) == 0) {
        counters.device_missed = stats.imissed + stats.rx_nombuf;
        counters.device_errors = stats.ierrors + stats.oerrors;
    }
    return counters;
}

PortStatistics EthdevPort::statistics() const {
    const EthdevCounters seen = counters();
    return {.send_refusals = seen.refused,
            .lost_frames = seen.too_long + seen.device_missed + seen.device_errors,
            .ring_high_water = std::nullopt};
}

std::size_t EthdevPort::memory_mb(const EthdevOptions& options) {
    constexpr std::size_t kSpareMb = 32;  // DPDK's own tables, rings of the device
    const std::size_t pools = options.send_buffers * PacketPool::bytes_each() +
                              options.receive_buffers * PacketPool::bytes_each(kReceiveBufferSize);
    return kSpareMb + (pools * 5 / 4 >> 20);
}

}  // namespace gradstorm::transport::dpdk
