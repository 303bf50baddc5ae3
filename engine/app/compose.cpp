// SPDX-License-Identifier: Apache-2.0
#include "engine/app/compose.h"

#include "engine/app/faults.h"
#include "engine/app/rank_addresses.h"
#include "engine/replay/real_driver.h"
#include "engine/roce/config.h"
#include "engine/wire/synthetic_payload.h"

#if GRADSTORM_HAS_DPDK
#include "engine/transport/dpdk/eal.h"
#include "engine/transport/dpdk/embedded_fabric.h"
#include "engine/transport/dpdk/ethdev_port.h"
#include "engine/transport/dpdk/software_endpoint.h"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace gradstorm::app {

namespace {

std::vector<std::uint32_t> local_ranks(const profiles::Profile& profile, std::uint32_t ranks,
                                       std::optional<std::uint32_t> node) {
    std::vector<std::uint32_t> local;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (!node || rank / profile.cluster.gpus_per_node == *node) local.push_back(rank);
    }
    return local;
}

}  // namespace

constexpr std::uint32_t kMostWorkers = 256;  // that the embedded fabric joins

std::uint32_t worker_count(const profiles::Profile& profile, std::uint32_t local_ranks) {
    const std::uint32_t wanted = profile.transport.workers > 0 ? profile.transport.workers : replay::usable_cores();
    return std::clamp(wanted, 1U, std::clamp(local_ranks, 1U, kMostWorkers));
}

#if GRADSTORM_HAS_DPDK

namespace {

namespace dpdk = transport::dpdk;

constexpr std::size_t kCaptureFrames = 65'536;

bool is_synthetic(const profiles::Profile& profile) { return profile.transport.payload == "synthetic"; }

/// Packet buffers of a worker in the embedded fabric. With real payload they are written and read whole: so few that
/// they stay in the nearest caches.
std::size_t packet_buffers(const profiles::Profile& profile) { return is_synthetic(profile) ? 512 : 192; }

/// The constant payload of synthetic mode.
std::vector<std::byte> constant_payload(const profiles::Profile& profile) {
    if (!is_synthetic(profile)) return {};
    const auto payload = wire::synthetic_payload(profile.run.seed);
    return {payload.begin(), payload.end()};
}

roce::SoftwareHcaConfig hca_config(const profiles::Profile& profile, std::vector<wire::HcaAddress> addresses) {
    return {.addresses = std::move(addresses),
            .payload = is_synthetic(profile) ? wire::PayloadMode::synthetic : wire::PayloadMode::memory,
            .payload_seed = profile.run.seed};
}

/// The faults of the profile, for the HCAs of any worker: they are told apart by source address.
dpdk::PortStackOptions port_stack(const profiles::Profile& profile, std::size_t worker) {
    dpdk::PortStackOptions options{.impairment_seed = profile.run.seed * 1'000'003U + worker};
    for (const profiles::FaultSettings& fault : profile.faults) {
        if (fault.all_ports) {
            options.impair_all = impairment_of(fault);
        } else {
            options.impair.push_back({wire::emulated_hca_address(fault.port).mac, impairment_of(fault)});
        }
    }
    return options;
}

std::string ranks_of_worker(const Composition& composition, std::uint32_t worker) {
    std::vector<std::uint32_t> ranks;
    for (const Placement& placement : composition.placements) {
        if (placement.worker == worker) ranks.push_back(placement.rank);
    }
    return fmt::format("worker {} (ranks {})", worker, fmt::join(ranks, " "));
}

void add_endpoint(Composition& composition, dpdk::SoftwareEndpoint endpoint) {
    const auto worker = static_cast<std::uint32_t>(composition.endpoints.size());
    composition.endpoints.push_back(std::move(endpoint.endpoint));
    composition.ports.push_back(
        {ranks_of_worker(composition, worker), std::move(endpoint.statistics), std::move(endpoint.impairments)});
    if (endpoint.drain_capture) {
        composition.capture = CaptureTap{ranks_of_worker(composition, worker), std::move(endpoint.drain_capture),
                                         std::move(endpoint.capture_lost)};
    }
}

/// The worker whose frames the profile wants captured, if it is in this process.
std::optional<std::uint32_t> captured_worker(const profiles::Profile& profile, const Composition& composition) {
    if (!profile.transport.capture) return std::nullopt;
    for (const Placement& placement : composition.placements) {
        if (placement.rank == profile.transport.capture_port) return placement.worker;
    }
    return std::nullopt;
}

Result<Composition> compose_embedded(const profiles::Profile& profile, const std::vector<std::uint32_t>& ranks) {
    Composition composition;
    composition.engine = "dpdk, embedded fabric";
    const std::uint32_t workers = worker_count(profile, static_cast<std::uint32_t>(ranks.size()));
    std::vector<std::vector<wire::HcaAddress>> addresses(workers);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        auto& mine = addresses[i % workers];
        composition.placements.push_back(
            {ranks[i], static_cast<std::uint32_t>(i % workers), static_cast<std::uint32_t>(mine.size())});
        mine.push_back(wire::emulated_hca_address(ranks[i]));
    }
    const std::vector<std::byte> payload = constant_payload(profile);
    const dpdk::EmbeddedFabricOptions options{
        .workers = workers, .buffers = packet_buffers(profile), .payload = payload};
    if (auto started = dpdk::start_eal({.memory_mb = dpdk::EmbeddedFabric::memory_mb(options)}); !started) {
        return tl::unexpected(started.error());
    }
    auto fabric = dpdk::EmbeddedFabric::create(options);
    if (!fabric) return tl::unexpected(fabric.error());
    const std::shared_ptr<dpdk::EmbeddedFabric> network = std::move(*fabric);
    composition.network = network;
    const auto captured = captured_worker(profile, composition);
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        dpdk::PortStackOptions stack = port_stack(profile, worker);
        if (captured == worker) stack.capture_frames = kCaptureFrames;
        auto endpoint = dpdk::make_fabric_endpoint(*network, worker, hca_config(profile, addresses[worker]), stack);
        if (!endpoint) return tl::unexpected(endpoint.error());
        add_endpoint(composition, std::move(*endpoint));
    }
    composition.disclosures = {
        "emulated: software HCAs speak the RoCEv2 reliable connection protocol through the embedded fabric of this "
        "process; no wire, no switch, no queues, ECN or PFC",
        "not modelled: DCQCN and other reactions of a NIC to congestion"};
    return composition;
}

// --- Ethernet ports of DPDK

bool is_pci_address(const std::string& device) {
    return !device.starts_with("net_") && std::count(device.begin(), device.end(), ':') >= 1;
}

/// Everything but what joins processes or threads of one host: cards, interfaces of the kernel, captures on them.
bool may_leave_host(const std::string& device) {
    return !device.starts_with("net_memif") && !device.starts_with("net_ring") && !device.starts_with("net_null");
}

/// Of a port's first rank; the others have emulated ones.
Result<wire::MacAddress> first_mac(const profiles::PortSettings& port, const dpdk::EthdevPort& device) {
    return port.mac.empty() ? device.mac() : wire::parse_mac(port.mac);
}

struct OpenPort {
    const profiles::PortSettings* settings = nullptr;
    std::unique_ptr<dpdk::EthdevPort> device;
    std::vector<std::uint32_t> ranks;
};

/// Opens the ports that have ranks, then waits until each has its other end: before that, frames go nowhere.
Result<std::vector<OpenPort>> open_ports(const profiles::Profile& profile,
                                         const std::vector<std::vector<std::uint32_t>>& by_port,
                                         std::span<const std::byte> payload) {
    constexpr auto kLinkPatience = std::chrono::seconds{10};
    std::vector<OpenPort> open;
    for (std::size_t i = 0; i < by_port.size(); ++i) {
        if (by_port[i].empty()) continue;
        auto device = dpdk::EthdevPort::open(
            {.device = profile.ports[i].device, .path_mtu = profile.transport.path_mtu, .payload = payload});
        if (!device) return tl::unexpected(device.error());
        open.push_back({&profile.ports[i], std::move(*device), by_port[i]});
    }
    for (const OpenPort& port : open) {
        if (auto up = port.device->wait_for_link(kLinkPatience); !up) return tl::unexpected(up.error());
    }
    return open;
}

Result<void> add_port(Composition& composition, const profiles::Profile& profile, OpenPort port) {
    const auto worker = static_cast<std::uint32_t>(composition.endpoints.size());
    const auto ips = addresses_on_port(*port.settings, port.ranks);
    if (!ips) return tl::unexpected(ips.error());
    std::vector<wire::HcaAddress> addresses;
    for (std::uint32_t hca = 0; hca < port.ranks.size(); ++hca) {
        addresses.push_back({wire::emulated_hca_address(port.ranks[hca]).mac, (*ips)[hca]});
        composition.placements.push_back({port.ranks[hca], worker, hca});
    }
    const auto mac = first_mac(*port.settings, *port.device);
    if (!mac) return tl::unexpected(mac.error());
    addresses.front().mac = *mac;
    dpdk::PortStackOptions stack = port_stack(profile, worker);
    if (captured_worker(profile, composition) == worker) stack.capture_frames = kCaptureFrames;
    auto endpoint =
        dpdk::make_ethdev_endpoint(std::move(port.device), hca_config(profile, std::move(addresses)), stack);
    if (!endpoint) return tl::unexpected(endpoint.error());
    add_endpoint(composition, std::move(*endpoint));
    return {};
}

Result<void> start_eal_for(const profiles::Profile& profile, const std::vector<std::vector<std::uint32_t>>& by_port,
                           std::span<const std::byte> payload) {
    dpdk::EalOptions eal{.memory_mb = 64};
    for (std::size_t i = 0; i < by_port.size(); ++i) {
        if (by_port[i].empty()) continue;
        const std::string& device = profile.ports[i].device;
        eal.memory_mb += dpdk::EthdevPort::memory_mb({.device = device, .payload = payload});
        if (is_pci_address(device)) eal.pci.push_back(device);
    }
    return dpdk::start_eal(eal);
}

Result<Composition> compose_ports(const profiles::Profile& profile, std::uint32_t all_ranks,
                                  const std::vector<std::uint32_t>& ranks) {
    if (auto differ = check_addresses_differ(profile, all_ranks); !differ) return tl::unexpected(differ.error());
    const auto by_port = ranks_by_port(profile, ranks);
    if (!by_port) return tl::unexpected(by_port.error());
    const std::vector<std::byte> payload = constant_payload(profile);
    if (auto started = start_eal_for(profile, *by_port, payload); !started) return tl::unexpected(started.error());
    auto open = open_ports(profile, *by_port, payload);
    if (!open) return tl::unexpected(open.error());
    Composition composition;
    composition.engine = "dpdk, ports";
    for (OpenPort& port : *open) {
        composition.network_is_emulated &= !may_leave_host(port.settings->device);
        if (auto added = add_port(composition, profile, std::move(port)); !added) return tl::unexpected(added.error());
    }
    std::sort(composition.placements.begin(), composition.placements.end(),
              [](const Placement& a, const Placement& b) { return a.rank < b.rank; });
    composition.disclosures = {"emulated: software HCAs speak the RoCEv2 reliable connection protocol on DPDK ports",
                               "not modelled: DCQCN and other reactions of a NIC to congestion"};
    return composition;
}

}  // namespace

Result<Composition> compose(const profiles::Profile& profile, std::uint32_t ranks, std::optional<std::uint32_t> node) {
    const std::vector<std::uint32_t> local = local_ranks(profile, ranks, node);
    if (local.empty()) {
        return failure(ErrorCode::invalid_input, fmt::format("node {} has no ranks: the cluster has {} nodes",
                                                             node.value_or(0), profile.cluster.nodes));
    }
    if (profile.transport.fabric == "ports") return compose_ports(profile, ranks, local);
    if (node && profile.cluster.nodes > 1) {
        return failure(ErrorCode::invalid_input,
                       "the embedded fabric joins ranks of one process only; with --rendezvous use "
                       "transport.fabric = \"ports\" and [[port]]");
    }
    return compose_embedded(profile, local);
}

std::vector<std::pair<std::string, std::string>> back_end_versions() { return {{"dpdk", dpdk::dpdk_version()}}; }

#else

Result<Composition> compose(const profiles::Profile& /*profile*/, std::uint32_t /*ranks*/,
                            std::optional<std::uint32_t> /*node*/) {
    return failure(ErrorCode::unsupported,
                   "this build has no packet engine: install libdpdk-dev, configure with -DGRADSTORM_DPDK=ON and "
                   "build again");
}

std::vector<std::pair<std::string, std::string>> back_end_versions() { return {{"dpdk", "not in this build"}}; }

#endif

}  // namespace gradstorm::app
