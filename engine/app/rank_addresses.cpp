// SPDX-License-Identifier: Apache-2.0
#include "engine/app/rank_addresses.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <numeric>
#include <string>

namespace gradstorm::app {
namespace {

/// Adds one to the last `bits` bits. False: they were all ones.
bool count_up(wire::IpAddress& address, unsigned bits) {
    for (std::size_t octet = address.octets.size(); octet-- > 0 && bits > 0; bits -= std::min(bits, 8U)) {
        const unsigned mask = bits >= 8 ? 0xFFU : (1U << bits) - 1;
        const unsigned kept = address.octets[octet] & ~mask;
        const unsigned sum = (address.octets[octet] & mask) + 1;
        address.octets[octet] = static_cast<std::uint8_t>(kept | (sum & mask));
        if (sum <= mask) return true;
    }
    return false;
}

}  // namespace

Result<std::vector<std::vector<std::uint32_t>>> ranks_by_port(const profiles::Profile& profile,
                                                              std::span<const std::uint32_t> ranks) {
    std::vector<std::vector<std::uint32_t>> by_port(profile.ports.size());
    for (const std::uint32_t rank : ranks) {
        const std::uint32_t node = rank / profile.cluster.gpus_per_node;
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i < profile.ports.size(); ++i) {
            if (profile.ports[i].node == node) candidates.push_back(i);
        }
        if (candidates.empty()) {
            return failure(ErrorCode::invalid_input,
                           fmt::format("rank {} has no port: no [[port]] has node = {}; give one, or set "
                                       "transport.fabric to \"embedded\"",
                                       rank, node));
        }
        by_port[candidates[rank % profile.cluster.gpus_per_node % candidates.size()]].push_back(rank);
    }
    return by_port;
}

Result<std::vector<wire::IpAddress>> addresses_on_port(const profiles::PortSettings& port,
                                                       std::span<const std::uint32_t> ranks) {
    std::vector<wire::IpAddress> addresses;
    if (port.address.empty()) {
        for (const std::uint32_t rank : ranks) addresses.push_back(wire::emulated_hca_address(rank).ip);
        return addresses;
    }
    const std::size_t slash = port.address.find('/');
    const auto first = wire::parse_ip(port.address.substr(0, slash));
    if (!first) return tl::unexpected(first.error());
    const unsigned length = first->is_v4() ? 32 : 128;
    const auto prefix =
        static_cast<unsigned>(slash == std::string::npos ? 0 : std::stoul(port.address.substr(slash + 1)));
    wire::IpAddress next = *first;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        addresses.push_back(next);
        if (i + 1 < ranks.size() && !count_up(next, length - prefix)) {
            return failure(ErrorCode::invalid_input,
                           fmt::format("port {}: {} ranks count up from {} and leave its subnet after {}", port.name,
                                       ranks.size(), port.address, wire::to_string(addresses.back())));
        }
    }
    return addresses;
}

Result<void> check_addresses_differ(const profiles::Profile& profile, std::uint32_t ranks) {
    struct Owner {
        std::uint32_t rank;
        const profiles::PortSettings* port;
    };
    std::vector<std::uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0U);
    const auto by_port = ranks_by_port(profile, all);
    if (!by_port) return tl::unexpected(by_port.error());
    std::map<wire::IpAddress, Owner> owners;
    for (std::size_t p = 0; p < by_port->size(); ++p) {
        const profiles::PortSettings& port = profile.ports[p];
        const auto addresses = addresses_on_port(port, (*by_port)[p]);
        if (!addresses) return tl::unexpected(addresses.error());
        for (std::size_t i = 0; i < addresses->size(); ++i) {
            const Owner mine{(*by_port)[p][i], &port};
            const auto [other, is_new] = owners.try_emplace((*addresses)[i], mine);
            if (is_new) continue;
            return failure(ErrorCode::invalid_input,
                           fmt::format("rank {} on port {} and rank {} on port {} both have the address {}: each port "
                                       "counts up from its own by one a rank, leave that much room between them",
                                       other->second.rank, other->second.port->name, mine.rank, port.name,
                                       wire::to_string((*addresses)[i])));
        }
    }
    return {};
}

}  // namespace gradstorm::app
