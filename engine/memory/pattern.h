// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/data_type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gradstorm::memory {

/// What a buffer holds, as one period of its bytes: byte i of the buffer is bytes[(phase + i) mod period].
///
/// The period is a prime number of elements, so that data that lands a block, a chunk or a power of two beside its
/// place never looks right.
using Pattern = std::vector<std::byte>;
inline constexpr std::uint64_t kPatternElements = 4093;

/// Small non-negative integers for sums. Over all `ranks` the values of an element add up to at most 255 (of uint8: the
/// largest value; float16, bfloat16 and float32 hold every integer up to 256, 2,048 and 2^24 exactly), so every partial
/// sum is exact in whatever order it is made. Beyond 255 ranks only some of them hold a 1.
[[nodiscard]] Pattern summand_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t rank,
                                      std::uint32_t ranks);
/// The element-wise sum of the summand patterns of all ranks: what a reduction must end with.
[[nodiscard]] Pattern sum_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t ranks);

/// Arbitrary bytes for collectives that only move data; each rank has its own. No byte is 0xFF, the poison.
[[nodiscard]] Pattern byte_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t rank);

/// What results hold before a checked iteration: an element of it (a NaN of the floating types) equals no element of
/// any other pattern.
[[nodiscard]] Pattern poison_pattern();

/// Fills `to` from the pattern, starting at byte `phase` of it.
void fill_pattern(std::span<std::byte> to, const Pattern& pattern, std::uint64_t phase);

/// Elements of `got` that differ from the pattern.
struct Mismatch {
    std::uint64_t wrong_elements = 0;
    std::uint64_t first_offset = 0;  ///< bytes from the start of the checked range
    std::uint64_t expected = 0;      ///< the first wrong element, its bytes as a little-endian integer
    std::uint64_t got = 0;
};
/// `phase` and the length of `got` are whole numbers of elements of `element` bytes.
[[nodiscard]] Mismatch compare(std::span<const std::byte> got, const Pattern& pattern, std::uint64_t phase,
                               std::uint32_t element);

/// The element as a number for people.
[[nodiscard]] double as_number(measure::DataType type, std::uint64_t element_bits);

}  // namespace gradstorm::memory
