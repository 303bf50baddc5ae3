// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/byte_order.h"
#include "engine/wire/crc32.h"
#include "engine/wire/frame.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradstorm::wire {

/// The invariant CRC that ends a RoCEv2 packet: CRC-32 over 64 one-bits (standing for InfiniBand's LRH) and the packet
/// from its IP header on, with each field that a switch may change taken as ones: TOS, TTL and checksum of IPv4;
/// traffic class, flow label and hop limit of IPv6; the UDP checksum; the fifth byte of the BTH (FECN, BECN). The
/// Ethernet header and the VLAN tag are not covered. Source: annex A17 of the InfiniBand Architecture Specification,
/// 17.9.3.1. On the wire it is little endian.

/// The CRC register after the 64 one-bits.
inline constexpr std::uint32_t kIcrcStart = 0xDEBB'20E3;

/// The ICRC of a frame: `covered` = Ethernet header up to but without the ICRC, with or without a VLAN tag.
[[nodiscard]] std::uint32_t icrc(std::span<const std::byte> covered);

/// The register after the headers (Ethernet header up to the payload), to be joined with a payload's contribution.
[[nodiscard]] std::uint32_t icrc_header_state(std::span<const std::byte> headers);

/// The ICRC from its parts, without reading the payload again. `payload_state` = crc32_update(0, payload and pad);
/// `shift` was made for their length.
[[nodiscard]] inline std::uint32_t icrc_from_parts(std::span<const std::byte> headers, std::uint32_t payload_state,
                                                   const Crc32Shift& shift) {
    return ~(shift(icrc_header_state(headers)) ^ payload_state);
}
[[nodiscard]] std::uint32_t icrc_from_parts(std::span<const std::byte> headers, std::uint32_t payload_state,
                                            std::size_t payload_length);

/// Writes the ICRC into the last four bytes of the frame, and compares it with them.
void store_icrc(std::span<std::byte> frame);
[[nodiscard]] bool verify_icrc(std::span<const std::byte> frame);

inline void put_icrc(std::byte* at, std::uint32_t value) { store_little<std::uint32_t>(at, value); }
[[nodiscard]] inline std::uint32_t get_icrc(const std::byte* at) { return load_little<std::uint32_t>(at); }

}  // namespace gradstorm::wire
