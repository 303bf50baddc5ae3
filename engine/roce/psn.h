// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/headers.h"

#include <cstdint>

namespace gradstorm::roce {

/// Packet sequence numbers. On the wire they have 24 bits and wrap (InfiniBand Architecture Specification 1.4, volume
/// 1, 9.7.2). A requester counts in 32 bits, which hold more frames than a send queue may, and masks when it builds.
inline constexpr std::uint32_t kPsnMask = wire::k24BitMask;

/// How far `psn` is ahead of `reference` on the 24-bit circle: -2^23 .. 2^23 - 1.
[[nodiscard]] constexpr std::int32_t psn_distance(std::uint32_t psn, std::uint32_t reference) {
    return static_cast<std::int32_t>((psn - reference) << 8U) >> 8;
}

/// The 32-bit count nearest to `reference` whose low 24 bits are those of `psn`.
[[nodiscard]] constexpr std::uint32_t extend_psn(std::uint32_t psn, std::uint32_t reference) {
    return reference + static_cast<std::uint32_t>(psn_distance(psn, reference));
}

/// How far one 32-bit count is ahead of another.
[[nodiscard]] constexpr std::int32_t count_distance(std::uint32_t count, std::uint32_t reference) {
    return static_cast<std::int32_t>(count - reference);
}

}  // namespace gradstorm::roce
