// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradstorm::wire {

struct MacAddress {
    std::array<std::uint8_t, 6> octets{};
    friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

/// An IPv4 or IPv6 address in network byte order. IPv4 is kept in its mapped form (::ffff:a.b.c.d), which is also the
/// form of a RoCE v2 GID.
struct IpAddress {
    std::array<std::uint8_t, 16> octets{};
    [[nodiscard]] bool is_v4() const;
    friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

[[nodiscard]] Result<MacAddress> parse_mac(std::string_view text);
[[nodiscard]] Result<IpAddress> parse_ip(std::string_view text);
[[nodiscard]] std::string to_string(const MacAddress& mac);
[[nodiscard]] std::string to_string(const IpAddress& ip);

/// Where an HCA (real or emulated) is on the network.
struct HcaAddress {
    MacAddress mac;
    IpAddress ip;
    friend auto operator<=>(const HcaAddress&, const HcaAddress&) = default;
};

/// The address of emulated HCA `index` where the profile names none: a locally administered MAC and an address of
/// 198.18.0.0/15, the range that RFC 2544 sets aside for benchmarks. Unique for index < 131,070.
[[nodiscard]] HcaAddress emulated_hca_address(std::uint32_t index);

}  // namespace gradstorm::wire
