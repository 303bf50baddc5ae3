// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <cstdint>
#include <set>
#include <vector>

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

/// Collects ranks, modulo n, at which a new class of ranks starts (Schedule::class_starts).
class ClassStarts {
public:
    explicit ClassStarts(std::uint32_t ranks) : ranks_(ranks), starts_{0} {}
    /// rank + offset; -n <= offset <= n.
    void add(std::uint32_t rank, int offset = 0) {
        const auto n = static_cast<std::int64_t>(ranks_);
        starts_.insert(static_cast<std::uint32_t>((static_cast<std::int64_t>(rank) + offset + n) % n));
    }
    [[nodiscard]] std::vector<std::uint32_t> ascending() const { return {starts_.begin(), starts_.end()}; }

private:
    std::uint32_t ranks_;
    std::set<std::uint32_t> starts_;
};

/// The first piece of step `step` needs what the first op of the step before left in `stream`.
[[nodiscard]] constexpr Dependency one_step_before(std::uint32_t stream, std::uint32_t step, std::uint64_t pieces) {
    return {stream, (step - 1) * pieces + 1};
}

}  // namespace gradstorm::collective
