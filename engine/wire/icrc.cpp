// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/icrc.h"

#include "engine/wire/headers.h"

#include <algorithm>
#include <array>

namespace gradstorm::wire {
namespace {

constexpr std::byte kOnes{0xFF};

/// The IP header to the end of the BTH with the variant fields masked; `size` bytes of it were there.
struct MaskedHeaders {
    std::array<std::byte, kIpv6Size + kUdpSize + kBthSize> bytes;
    std::size_t size;
};

void mask_ipv4(std::byte* ip) {
    ip[1] = kOnes;                                  // DSCP and ECN
    ip[8] = kOnes;                                  // TTL
    ip[10] = ip[11] = kOnes;                        // header checksum
    ip[kIpv4Size + 6] = ip[kIpv4Size + 7] = kOnes;  // UDP checksum
    ip[kIpv4Size + kUdpSize + 4] = kOnes;           // BTH: FECN, BECN and reserved bits
}

void mask_ipv6(std::byte* ip) {
    ip[0] |= std::byte{0x0F};       // traffic class, high half
    ip[1] = ip[2] = ip[3] = kOnes;  // its low half and the flow label
    ip[7] = kOnes;                  // hop limit
    ip[kIpv6Size + 6] = ip[kIpv6Size + 7] = kOnes;
    ip[kIpv6Size + kUdpSize + 4] = kOnes;
}

/// Bytes of the Ethernet header, tag included.
std::size_t ethernet_size(std::span<const std::byte> frame) {
    const bool vlan = frame.size() >= kEthernetSize && load_big<std::uint16_t>(&frame[12]) == kEtherTypeVlan;
    return std::min(frame.size(), kEthernetSize + (vlan ? kVlanTagSize : 0));
}

MaskedHeaders masked_headers(std::span<const std::byte> packet) {
    MaskedHeaders masked{};
    const bool v4 = !packet.empty() && std::to_integer<std::uint32_t>(packet[0]) >> 4U == 4;
    masked.size = std::min(packet.size(), (v4 ? kIpv4Size : kIpv6Size) + kUdpSize + kBthSize);
    std::copy_n(packet.begin(), masked.size, masked.bytes.begin());
    v4 ? mask_ipv4(masked.bytes.data()) : mask_ipv6(masked.bytes.data());
    return masked;
}

}  // namespace

std::uint32_t icrc_header_state(std::span<const std::byte> headers) {
    const auto packet = headers.subspan(ethernet_size(headers));
    const MaskedHeaders masked = masked_headers(packet);
    const auto state = crc32_update(kIcrcStart, {masked.bytes.data(), masked.size});
    return crc32_update(state, packet.subspan(masked.size));
}

// Covered bytes are headers and payload alike once the variant fields are past.
std::uint32_t icrc(std::span<const std::byte> covered) { return ~icrc_header_state(covered); }

std::uint32_t icrc_from_parts(std::span<const std::byte> headers, std::uint32_t payload_state,
                              std::size_t payload_length) {
    return ~(crc32_shift(icrc_header_state(headers), payload_length) ^ payload_state);
}

void store_icrc(std::span<std::byte> frame) {
    if (frame.size() < kIcrcSize) return;
    put_icrc(frame.last(kIcrcSize).data(), icrc(frame.first(frame.size() - kIcrcSize)));
}

bool verify_icrc(std::span<const std::byte> frame) {
    if (frame.size() < kIcrcSize) return false;
    return get_icrc(frame.last(kIcrcSize).data()) == icrc(frame.first(frame.size() - kIcrcSize));
}

}  // namespace gradstorm::wire
