// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Numbers of the two capture file formats. Sources: the Internet drafts draft-ietf-opsawg-pcap and
/// draft-ietf-opsawg-pcapng.
namespace gradstorm::wire {

/// Which way a captured frame went, seen from the port; the first two bits of pcapng's epb_flags.
enum class CaptureDirection : std::uint8_t { unknown = 0, received = 1, sent = 2 };

namespace capture_format {

inline constexpr std::uint32_t kLinkTypeEthernet = 1;

inline constexpr std::uint32_t kPcapMicroseconds = 0xA1B2'C3D4;
inline constexpr std::uint32_t kPcapNanoseconds = 0xA1B2'3C4D;

inline constexpr std::uint32_t kSectionHeaderBlock = 0x0A0D'0D0A;  // the same in both byte orders
inline constexpr std::uint32_t kInterfaceBlock = 1;
inline constexpr std::uint32_t kObsoletePacketBlock = 2;
inline constexpr std::uint32_t kSimplePacketBlock = 3;
inline constexpr std::uint32_t kEnhancedPacketBlock = 6;
inline constexpr std::uint32_t kByteOrderMagic = 0x1A2B'3C4D;

inline constexpr std::uint16_t kOptionEnd = 0;
inline constexpr std::uint16_t kOptionUserApplication = 4;  // of a section
inline constexpr std::uint16_t kOptionInterfaceName = 2;    // of an interface
inline constexpr std::uint16_t kOptionTimeResolution = 9;   // of an interface
inline constexpr std::uint16_t kOptionTimeOffset = 14;      // of an interface
inline constexpr std::uint16_t kOptionPacketFlags = 2;      // of an enhanced packet

/// Block type, two copies of the length around the body.
inline constexpr std::uint32_t kBlockOverhead = 12;

}  // namespace capture_format
}  // namespace gradstorm::wire
