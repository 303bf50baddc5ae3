// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"
#include "engine/memory/pattern.h"
#include "engine/replay/program.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace gradstorm::replay {

/// What sources hold and results must hold, for every kind of collective. Filled before the run, read-only afterwards;
/// patterns stay where they are.
class PatternBook {
public:
    explicit PatternBook(std::uint64_t seed) : seed_(seed), poison_(memory::poison_pattern()) {}

    /// What the source of group-local `rank` holds.
    [[nodiscard]] const memory::Pattern& source(const collective::Call& call, std::uint32_t rank,
                                                std::uint32_t call_index);
    /// The parts of the result of group-local `rank`, whose buffer is at `result`.
    [[nodiscard]] std::vector<Expectation> expectations(const collective::Call& call, std::uint32_t rank,
                                                        std::uint32_t call_index, std::uint64_t result);
    [[nodiscard]] const memory::Pattern& poison() const { return poison_; }

private:
    static constexpr std::uint32_t kSum = ~std::uint32_t{0};  ///< in place of a rank: the sum over all
    static constexpr std::uint32_t kVariants = 7;             ///< calls of an iteration differ, up to this many
    /// (sums or bytes, type, ranks, rank, variant)
    using Key = std::tuple<bool, measure::DataType, std::uint32_t, std::uint32_t, std::uint32_t>;

    const memory::Pattern& of(const collective::Call& call, std::uint32_t rank, std::uint32_t call_index);

    std::uint64_t seed_;
    memory::Pattern poison_;
    std::map<Key, memory::Pattern> patterns_;
};

/// Whether the collective adds elements up.
[[nodiscard]] bool reduces(measure::CollectiveKind kind);

}  // namespace gradstorm::replay
