// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradstorm::wire {

/// Where the payload of a frame we build starts in its packet buffer. Headers grow towards the front from here, so that
/// one pool serves every header shape. 182 = 128 + 54: the 54-byte header of a MIDDLE frame (Ethernet, IPv4, UDP, BTH)
/// fills a single cache line of a 64-byte aligned buffer, and so does the ICRC behind a 4096-byte payload.
inline constexpr std::uint16_t kPayloadAnchor = 182;

/// Largest payload of one frame: the largest path MTU of InfiniBand and RoCE.
inline constexpr std::uint16_t kMaxPathMtu = 4096;

/// The invariant CRC that ends every RoCEv2 frame.
inline constexpr std::uint16_t kIcrcSize = 4;

/// Room that a packet buffer must have: the anchor, the largest payload, the ICRC; rounded up to whole cache lines.
inline constexpr std::uint32_t kFrameBufferSize = 4352;
static_assert(kFrameBufferSize >= kPayloadAnchor + kMaxPathMtu + kIcrcSize);

/// One Ethernet frame in a packet buffer, by value: a handle, not an owner. Whoever holds the frame between receive()
/// or allocate() and send() or free() owns the buffer's bytes. The preamble and the FCS are never in the buffer.
struct Frame {
    std::byte* buffer = nullptr;  ///< start of the packet buffer, 64-byte aligned
    std::uint16_t offset = 0;     ///< of the Ethernet header in the buffer
    std::uint16_t length = 0;     ///< bytes from the Ethernet header to the end of the ICRC
    std::uint16_t source = 0;     ///< set by the port: where the buffer has to go back to; nobody else reads or sets it
    std::uint16_t headers = 0;    ///< bytes in front of the payload, set by who builds the frame; read where gathered

    [[nodiscard]] std::byte* data() const { return buffer + offset; }
};
static_assert(sizeof(Frame) == 16);

}  // namespace gradstorm::wire
