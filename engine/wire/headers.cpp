// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/headers.h"

#include "engine/wire/byte_order.h"

#include <algorithm>
#include <cstring>

namespace gradstorm::wire {
namespace {

constexpr std::size_t kMappedPrefixSize = 12;
constexpr std::uint16_t kDontFragment = 0x4000;

std::byte as_byte(std::uint32_t value) { return static_cast<std::byte>(value); }
std::uint8_t to_u8(std::byte value) { return std::to_integer<std::uint8_t>(value); }

/// The byte that both IP versions have in common: DSCP above, ECN below.
std::uint32_t traffic_class(const IpHeader& header) {
    return (header.dscp & 0x3FU) << 2U | static_cast<std::uint32_t>(header.ecn);
}
void set_traffic_class(IpHeader& header, std::uint32_t value) {
    header.dscp = static_cast<std::uint8_t>(value >> 2U);
    header.ecn = static_cast<Ecn>(value & 3U);
}

void encode_ipv4(const IpHeader& header, std::span<std::byte, kIpv4Size> out) {
    out[0] = as_byte(0x45);
    out[1] = as_byte(traffic_class(header));
    store_big<std::uint16_t>(&out[2], header.packet_length);
    store_big<std::uint16_t>(&out[4], 0);
    store_big<std::uint16_t>(&out[6], kDontFragment);
    out[8] = as_byte(header.hop_limit);
    out[9] = as_byte(kIpProtocolUdp);
    store_big<std::uint16_t>(&out[10], 0);
    std::memcpy(&out[12], header.source.octets.data() + kMappedPrefixSize, 4);
    std::memcpy(&out[16], header.destination.octets.data() + kMappedPrefixSize, 4);
    store_big<std::uint16_t>(&out[10], ipv4_checksum(out));
}

void encode_ipv6(const IpHeader& header, std::span<std::byte, kIpv6Size> out) {
    store_big<std::uint32_t>(&out[0], 6U << 28U | traffic_class(header) << 20U | (header.flow_label & 0xF'FFFFU));
    store_big<std::uint16_t>(&out[4], static_cast<std::uint16_t>(header.packet_length - kIpv6Size));
    out[6] = as_byte(kIpProtocolUdp);
    out[7] = as_byte(header.hop_limit);
    std::memcpy(&out[8], header.source.octets.data(), 16);
    std::memcpy(&out[24], header.destination.octets.data(), 16);
}

IpAddress mapped_ipv4(const std::byte* at) {
    IpAddress ip;
    ip.octets[10] = ip.octets[11] = 0xFF;
    std::memcpy(ip.octets.data() + kMappedPrefixSize, at, 4);
    return ip;
}

}  // namespace

void encode(const EthernetHeader& header, std::uint16_t ether_type, std::span<std::byte> out) {
    std::memcpy(&out[0], header.destination.octets.data(), 6);
    std::memcpy(&out[6], header.source.octets.data(), 6);
    std::byte* type = &out[12];
    if (header.vlan) {
        const VlanTag& tag = *header.vlan;
        store_big<std::uint16_t>(type, kEtherTypeVlan);
        store_big<std::uint16_t>(
            type + 2, static_cast<std::uint16_t>((tag.priority & 7U) << 13U | (tag.drop_eligible ? 1U : 0U) << 12U |
                                                 (tag.id & 0xFFFU)));
        type += kVlanTagSize;
    }
    store_big<std::uint16_t>(type, ether_type);
}

void encode(const IpHeader& header, std::span<std::byte> out) {
    if (header.is_v4()) {
        encode_ipv4(header, out.first<kIpv4Size>());
    } else {
        encode_ipv6(header, out.first<kIpv6Size>());
    }
}

void encode(const UdpHeader& header, std::span<std::byte, kUdpSize> out) {
    store_big<std::uint16_t>(&out[0], header.source_port);
    store_big<std::uint16_t>(&out[2], header.destination_port);
    store_big<std::uint16_t>(&out[4], header.length);
    store_big<std::uint16_t>(&out[6], header.checksum);
}

void encode(const Bth& header, std::span<std::byte, kBthSize> out) {
    out[0] = static_cast<std::byte>(header.opcode);
    out[1] = as_byte((header.solicited_event ? 0x80U : 0U) | (header.migration_request ? 0x40U : 0U) |
                     (header.pad_count & 3U) << 4U | (header.header_version & 0xFU));
    store_big<std::uint16_t>(&out[2], header.partition_key);
    out[4] = as_byte((header.fecn ? 0x80U : 0U) | (header.becn ? 0x40U : 0U));
    store_big24(&out[5], header.destination_qpn);
    out[8] = as_byte(header.ack_request ? 0x80U : 0U);
    store_big24(&out[9], header.psn);
}

void encode(const Reth& header, std::span<std::byte, kRethSize> out) {
    store_big<std::uint64_t>(&out[0], header.virtual_address);
    store_big<std::uint32_t>(&out[8], header.remote_key);
    store_big<std::uint32_t>(&out[12], header.length);
}

void encode(const Aeth& header, std::span<std::byte, kAethSize> out) {
    out[0] = as_byte(header.syndrome);
    store_big24(&out[1], header.msn);
}

void encode_immediate(std::uint32_t immediate, std::span<std::byte, kImmediateSize> out) {
    store_big<std::uint32_t>(&out[0], immediate);
}

IpHeader decode_ipv4(std::span<const std::byte, kIpv4Size> in) {
    IpHeader header{.source = mapped_ipv4(&in[12]), .destination = mapped_ipv4(&in[16])};
    set_traffic_class(header, to_u8(in[1]));
    header.hop_limit = to_u8(in[8]);
    header.packet_length = load_big<std::uint16_t>(&in[2]);
    return header;
}

IpHeader decode_ipv6(std::span<const std::byte, kIpv6Size> in) {
    IpHeader header{};
    const auto first = load_big<std::uint32_t>(&in[0]);
    set_traffic_class(header, first >> 20U & 0xFFU);
    header.flow_label = first & 0xF'FFFFU;
    header.packet_length = static_cast<std::uint16_t>(load_big<std::uint16_t>(&in[4]) + kIpv6Size);
    header.hop_limit = to_u8(in[7]);
    std::memcpy(header.source.octets.data(), &in[8], 16);
    std::memcpy(header.destination.octets.data(), &in[24], 16);
    return header;
}

UdpHeader decode_udp(std::span<const std::byte, kUdpSize> in) {
    return {.source_port = load_big<std::uint16_t>(&in[0]),
            .destination_port = load_big<std::uint16_t>(&in[2]),
            .length = load_big<std::uint16_t>(&in[4]),
            .checksum = load_big<std::uint16_t>(&in[6])};
}

Bth decode_bth(std::span<const std::byte, kBthSize> in) {
    const std::uint8_t flags = to_u8(in[1]);
    const std::uint8_t congestion = to_u8(in[4]);
    return {.opcode = static_cast<Opcode>(to_u8(in[0])),
            .solicited_event = (flags & 0x80U) != 0,
            .migration_request = (flags & 0x40U) != 0,
            .pad_count = static_cast<std::uint8_t>(flags >> 4U & 3U),
            .header_version = static_cast<std::uint8_t>(flags & 0xFU),
            .partition_key = load_big<std::uint16_t>(&in[2]),
            .fecn = (congestion & 0x80U) != 0,
            .becn = (congestion & 0x40U) != 0,
            .destination_qpn = load_big24(&in[5]),
            .ack_request = (to_u8(in[8]) & 0x80U) != 0,
            .psn = load_big24(&in[9])};
}

Reth decode_reth(std::span<const std::byte, kRethSize> in) {
    return {.virtual_address = load_big<std::uint64_t>(&in[0]),
            .remote_key = load_big<std::uint32_t>(&in[8]),
            .length = load_big<std::uint32_t>(&in[12])};
}

Aeth decode_aeth(std::span<const std::byte, kAethSize> in) {
    return {.syndrome = to_u8(in[0]), .msn = load_big24(&in[1])};
}

std::uint32_t decode_immediate(std::span<const std::byte, kImmediateSize> in) {
    return load_big<std::uint32_t>(&in[0]);
}

std::uint16_t ipv4_checksum(std::span<const std::byte, kIpv4Size> header) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < kIpv4Size; i += 2) {
        if (i != 10) sum += load_big<std::uint16_t>(&header[i]);
    }
    sum = (sum & 0xFFFFU) + (sum >> 16U);
    sum += sum >> 16U;
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace gradstorm::wire
