// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradstorm::wire {

using SyntheticPayload = std::array<std::byte, kMaxPathMtu>;

/// The constant payload of a run in synthetic mode: pseudo-random bytes (splitmix64), a function of the seed alone.
/// Packet buffers are filled with it behind kPayloadAnchor once, and every frame carries a prefix of it.
[[nodiscard]] SyntheticPayload synthetic_payload(std::uint64_t seed);

}  // namespace gradstorm::wire
