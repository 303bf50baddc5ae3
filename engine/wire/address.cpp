// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace gradstorm::wire {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

IpAddress mapped(const std::array<std::uint8_t, 4>& v4) {
    IpAddress ip;
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), ip.octets.begin());
    std::copy(v4.begin(), v4.end(), ip.octets.begin() + kMappedPrefix.size());
    return ip;
}

bool parse_octet(std::string_view text, std::uint8_t& octet) {
    if (text.size() != 2) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), octet, 16);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool IpAddress::is_v4() const { return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), octets.begin()); }

Result<MacAddress> parse_mac(std::string_view text) {
    constexpr std::size_t kLength = 17;  // aa:bb:cc:dd:ee:ff
    MacAddress mac;
    bool good = text.size() == kLength;
    const char separator = good ? text[2] : ':';
    good = good && (separator == ':' || separator == '-');
    for (std::size_t i = 0; good && i < mac.octets.size(); ++i) {
        good = parse_octet(text.substr(3 * i, 2), mac.octets[i]) &&
               (i + 1 == mac.octets.size() || text[3 * i + 2] == separator);
    }
    if (!good) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("'{}' is no MAC address: write six octets as in 02:00:c6:12:00:01", text));
    }
    return mac;
}

Result<IpAddress> parse_ip(std::string_view text) {
    const std::string terminated{text};
    if (text.find('\0') == std::string_view::npos) {
        std::array<std::uint8_t, 4> v4{};
        if (inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) return mapped(v4);
        IpAddress ip;
        if (inet_pton(AF_INET6, terminated.c_str(), ip.octets.data()) == 1) return ip;
    }
    return failure(ErrorCode::invalid_input,
                   fmt::format("'{}' is no IP address: write IPv4 as in 198.18.0.1 or IPv6 as in fd00::1", text));
}

std::string to_string(const MacAddress& mac) { return fmt::format("{:02x}", fmt::join(mac.octets, ":")); }

std::string to_string(const IpAddress& ip) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (ip.is_v4()) {
        inet_ntop(AF_INET, ip.octets.data() + kMappedPrefix.size(), text.data(), text.size());
    } else {
        inet_ntop(AF_INET6, ip.octets.data(), text.data(), text.size());
    }
    return text.data();
}

HcaAddress emulated_hca_address(std::uint32_t index) {
    constexpr std::uint32_t kFirst = 0xC612'0001;  // 198.18.0.1
    constexpr std::uint32_t kCount = 131'070;      // of a /15, without network and broadcast address
    const std::uint32_t host = kFirst + index % kCount;
    const std::array<std::uint8_t, 4> v4{static_cast<std::uint8_t>(host >> 24U), static_cast<std::uint8_t>(host >> 16U),
                                         static_cast<std::uint8_t>(host >> 8U), static_cast<std::uint8_t>(host)};
    return {.mac = {{0x02, 0x00, v4[0], v4[1], v4[2], v4[3]}}, .ip = mapped(v4)};
}

}  // namespace gradstorm::wire
