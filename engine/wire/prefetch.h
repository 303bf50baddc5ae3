// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame.h"

#include <cstddef>

namespace gradstorm::wire {

/// Asks for the lines of a free buffer that a sender writes: extended headers, headers, and the ICRC of a full frame.
/// Of a gathered frame (gathered_frame.h) the first is as a rule read alone, and the ICRC follows the headers.
inline void prefetch_to_build(std::byte* buffer, bool gathered) {
    std::byte* headers = buffer + kPayloadAnchor - 1;
    if (gathered) {
        __builtin_prefetch(headers - 64);
        __builtin_prefetch(headers, 1);
        return;
    }
    __builtin_prefetch(headers - 64, 1);
    __builtin_prefetch(headers, 1);
    __builtin_prefetch(buffer + kPayloadAnchor + kMaxPathMtu, 1);
}

/// Asks for the lines of a frame that a receiver reads: headers, which may reach into a second line, and ICRC.
inline void prefetch_to_read(const Frame& frame, bool gathered) {
    constexpr std::size_t kShortestHeader = 54;  // Ethernet, IPv4, UDP, BTH
    const std::byte* header = frame.data();
    __builtin_prefetch(header);
    __builtin_prefetch(gathered ? frame.buffer + kPayloadAnchor : header + kShortestHeader - 1);
    if (!gathered) __builtin_prefetch(header + frame.length - kIcrcSize);
}

}  // namespace gradstorm::wire
