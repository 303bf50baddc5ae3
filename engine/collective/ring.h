// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <cstdint>

namespace gradstorm::collective {

/// One rank's place in the ring 0 -> 1 -> ... -> n-1 -> 0.
struct Ring {
    std::uint32_t ranks = 2;
    std::uint32_t rank = 0;

    [[nodiscard]] constexpr std::uint32_t next() const { return plus(1); }
    [[nodiscard]] constexpr std::uint32_t previous() const { return minus(1); }
    /// rank + distance and rank - distance, modulo n; distance <= n.
    [[nodiscard]] constexpr std::uint32_t plus(std::uint32_t distance) const {
        return distance < ranks - rank ? rank + distance : distance - (ranks - rank);
    }
    [[nodiscard]] constexpr std::uint32_t minus(std::uint32_t distance) const {
        return distance <= rank ? rank - distance : ranks - (distance - rank);
    }
};

/// The block that a ring stream moves, one block further back in each step.
struct BackwardBlock {
    std::uint32_t ranks = 2;
    std::uint32_t block = 0;
    constexpr void advance() { block = (block == 0 ? ranks : block) - 1; }
};

/// Op number `index` of a ring stream works on what op `index - pieces` of `stream` left, one step before.
[[nodiscard]] constexpr Dependency one_step_before(std::uint32_t stream, std::uint64_t index, std::uint64_t pieces) {
    return {stream, index - pieces + 1};
}

}  // namespace gradstorm::collective
