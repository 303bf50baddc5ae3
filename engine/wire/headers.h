// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/address.h"
#include "engine/wire/opcode.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gradstorm::wire {

/// The headers of a RoCEv2 frame as plain values in host byte order, and how each lies on the wire. Sources: IEEE
/// 802.3 and 802.1Q, RFC 791, RFC 8200, RFC 768, InfiniBand Architecture Specification 1.4 volume 1 chapter 9, and its
/// annex A17 (RoCEv2). encode() writes each byte of its span; decode_*() read one header and check nothing: lengths and
/// what may follow what is the affair of frame_codec.h.

inline constexpr std::size_t kEthernetSize = 14;
inline constexpr std::size_t kVlanTagSize = 4;
inline constexpr std::size_t kIpv4Size = 20;
inline constexpr std::size_t kIpv6Size = 40;
inline constexpr std::size_t kUdpSize = 8;
inline constexpr std::size_t kBthSize = 12;
inline constexpr std::size_t kRethSize = 16;
inline constexpr std::size_t kAethSize = 4;
inline constexpr std::size_t kImmediateSize = 4;
/// What a CNP carries between BTH and ICRC: reserved, zero.
inline constexpr std::size_t kCnpReservedSize = 16;

inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kEtherTypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kEtherTypeVlan = 0x8100;
inline constexpr std::uint8_t kIpProtocolUdp = 17;
/// RoCEv2 is known by its UDP destination port, and by nothing else: source ports are free, whatever they are.
inline constexpr std::uint16_t kRoceUdpPort = 4791;
inline constexpr std::uint32_t k24BitMask = 0xFF'FFFF;

struct VlanTag {
    std::uint16_t id = 0;       ///< 12 bit
    std::uint8_t priority = 0;  ///< PCP, 3 bit
    bool drop_eligible = false;
    friend bool operator==(const VlanTag&, const VlanTag&) = default;
};

struct EthernetHeader {
    MacAddress destination;
    MacAddress source;
    std::optional<VlanTag> vlan{};  ///< at most one tag
    friend bool operator==(const EthernetHeader&, const EthernetHeader&) = default;

    [[nodiscard]] std::size_t size() const { return kEthernetSize + (vlan ? kVlanTagSize : 0); }
};

/// The two ECN bits of the IP header (RFC 3168).
enum class Ecn : std::uint8_t { not_capable = 0, capable_1 = 1, capable_0 = 2, congestion_experienced = 3 };

/// IPv4 or IPv6, whichever the addresses are. IPv4 goes out without options, with id 0 and don't-fragment set.
struct IpHeader {
    IpAddress source;
    IpAddress destination;
    std::uint8_t dscp = 0;  ///< 6 bit
    Ecn ecn = Ecn::capable_0;
    std::uint8_t hop_limit = 64;      ///< TTL of IPv4
    std::uint32_t flow_label = 0;     ///< 20 bit, of IPv6
    std::uint16_t packet_length = 0;  ///< IP header included, in both versions
    friend bool operator==(const IpHeader&, const IpHeader&) = default;

    [[nodiscard]] bool is_v4() const { return source.is_v4(); }
    [[nodiscard]] std::size_t size() const { return is_v4() ? kIpv4Size : kIpv6Size; }
};

struct UdpHeader {
    std::uint16_t source_port = 0xC000;
    std::uint16_t destination_port = kRoceUdpPort;
    std::uint16_t length = 0;    ///< UDP header included
    std::uint16_t checksum = 0;  ///< RoCEv2 sends zero, the ICRC protects the packet
    friend bool operator==(const UdpHeader&, const UdpHeader&) = default;
};

/// Base transport header.
struct Bth {
    Opcode opcode = Opcode::send_only;
    bool solicited_event = false;
    bool migration_request = true;
    std::uint8_t pad_count = 0;       ///< bytes added behind the payload to end it on a multiple of 4
    std::uint8_t header_version = 0;  ///< always 0
    std::uint16_t partition_key = 0xFFFF;
    bool fecn = false;
    bool becn = false;                  ///< set in a CNP
    std::uint32_t destination_qpn = 0;  ///< 24 bit
    bool ack_request = false;
    std::uint32_t psn = 0;  ///< 24 bit
    friend bool operator==(const Bth&, const Bth&) = default;
};

/// RDMA extended transport header.
struct Reth {
    std::uint64_t virtual_address = 0;
    std::uint32_t remote_key = 0;
    std::uint32_t length = 0;  ///< of the whole message
    friend bool operator==(const Reth&, const Reth&) = default;
};

/// ACK extended transport header; the syndrome is taken apart in aeth.h.
struct Aeth {
    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;  ///< 24 bit, message sequence number
    friend bool operator==(const Aeth&, const Aeth&) = default;
};

/// `ether_type` is that of the layer behind the tag.
void encode(const EthernetHeader& header, std::uint16_t ether_type, std::span<std::byte> out);  ///< header.size() bytes
void encode(const IpHeader& header, std::span<std::byte> out);  ///< header.size() bytes; with the IPv4 checksum
void encode(const UdpHeader& header, std::span<std::byte, kUdpSize> out);
void encode(const Bth& header, std::span<std::byte, kBthSize> out);
void encode(const Reth& header, std::span<std::byte, kRethSize> out);
void encode(const Aeth& header, std::span<std::byte, kAethSize> out);
void encode_immediate(std::uint32_t immediate, std::span<std::byte, kImmediateSize> out);

[[nodiscard]] IpHeader decode_ipv4(std::span<const std::byte, kIpv4Size> in);
[[nodiscard]] IpHeader decode_ipv6(std::span<const std::byte, kIpv6Size> in);
[[nodiscard]] UdpHeader decode_udp(std::span<const std::byte, kUdpSize> in);
[[nodiscard]] Bth decode_bth(std::span<const std::byte, kBthSize> in);
[[nodiscard]] Reth decode_reth(std::span<const std::byte, kRethSize> in);
[[nodiscard]] Aeth decode_aeth(std::span<const std::byte, kAethSize> in);
[[nodiscard]] std::uint32_t decode_immediate(std::span<const std::byte, kImmediateSize> in);

/// The IPv4 header checksum (RFC 1071) over the header as it stands, taking its checksum field as zero.
[[nodiscard]] std::uint16_t ipv4_checksum(std::span<const std::byte, kIpv4Size> header);

}  // namespace gradstorm::wire
