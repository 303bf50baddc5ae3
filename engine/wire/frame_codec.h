// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame.h"
#include "engine/wire/headers.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gradstorm::wire {

/// The headers of one RoCEv2 frame. Which of the optional ones it has follows from the opcode (opcode.h); their values
/// are ignored when the opcode has none.
struct FrameHeaders {
    EthernetHeader ethernet;
    IpHeader ip;
    UdpHeader udp;
    Bth bth;
    Reth reth;
    Aeth aeth;
    std::uint32_t immediate = 0;  ///< host byte order
    friend bool operator==(const FrameHeaders&, const FrameHeaders&) = default;
};

/// Bytes of the extended transport headers behind the BTH (a CNP's reserved bytes count as such).
[[nodiscard]] constexpr std::size_t extended_header_size(Opcode opcode) {
    return (has_reth(opcode) ? kRethSize : 0) + (has_aeth(opcode) ? kAethSize : 0) +
           (has_immediate(opcode) ? kImmediateSize : 0) +
           (opcode == Opcode::congestion_notification ? kCnpReservedSize : 0);
}

/// Bytes in front of the payload.
[[nodiscard]] constexpr std::size_t header_size(Opcode opcode, bool ipv4, bool vlan) {
    return kEthernetSize + (vlan ? kVlanTagSize : 0) + (ipv4 ? kIpv4Size : kIpv6Size) + kUdpSize + kBthSize +
           extended_header_size(opcode);
}

/// Bytes that end a payload of this length on a multiple of 4.
[[nodiscard]] constexpr std::uint8_t pad_count(std::size_t payload_length) {
    return static_cast<std::uint8_t>((4U - payload_length % 4U) % 4U);
}

/// Writes the headers of a frame with `payload_length` bytes of payload so that they end at the payload anchor of
/// `buffer`, and returns the frame, pad and ICRC counted in. Lengths, pad count and IPv4 checksum are computed: those
/// in `headers` are ignored. Touches no byte at or behind the anchor: see seal().
/// Precondition: source and destination address are of one family, payload_length <= kMaxPathMtu.
[[nodiscard]] Frame encode(const FrameHeaders& headers, std::size_t payload_length, std::byte* buffer);

/// Clears the pad bytes and writes the ICRC of a frame that encode() began and whose payload is in place.
void seal(const Frame& frame);

/// Why a frame is not a RoCEv2 frame that this engine understands.
enum class FrameFault : std::uint8_t {
    truncated,        ///< ends inside a header
    other_traffic,    ///< not IP, not UDP, or not to port 4791
    fragment,         ///< of an IPv4 packet
    ip_options,       ///< IPv4 header longer than 20 bytes
    length_mismatch,  ///< lengths of frame, IP and UDP contradict each other
    unknown_opcode,
    header_version,    ///< of the BTH, not 0
    payload_mismatch,  ///< payload where the opcode has none, more than kMaxPathMtu, or not as the pad count says
};
[[nodiscard]] std::string_view to_string(FrameFault fault);

struct DecodedFrame {
    FrameHeaders headers;
    std::size_t length = 0;              ///< from the Ethernet header to the end of the ICRC, Ethernet padding left out
    std::span<const std::byte> payload;  ///< without pad bytes
    std::uint32_t icrc = 0;              ///< as found; compare with icrc.h
    bool ip_checksum_right = true;       ///< always true for IPv6
};

/// Takes a frame apart (Ethernet header first, no FCS). Strict about lengths; bytes behind the IP packet are accepted
/// only as padding to Ethernet's minimum frame. Does not verify the ICRC. For cold paths, tests and captures; the data
/// path compares with a template instead.
[[nodiscard]] tl::expected<DecodedFrame, FrameFault> decode(std::span<const std::byte> frame);

}  // namespace gradstorm::wire
