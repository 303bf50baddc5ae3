// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace gradstorm::memory {

/// bfloat16 is the upper half of a float32.
[[nodiscard]] inline float from_bfloat16(std::uint16_t value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

/// Rounds to the nearest bfloat16, ties to even. A NaN stays a (quiet) NaN.
[[nodiscard]] inline std::uint16_t to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16U) & 1U);
    const bool nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;
    return static_cast<std::uint16_t>((nan ? bits | 0x0040'0000U : rounded) >> 16U);
}

/// IEEE 754 binary16 of an integer 0..2048: exact.
[[nodiscard]] inline std::uint16_t small_integer_to_float16(std::uint32_t value) {
    if (value == 0) return 0;
    const auto exponent = static_cast<std::uint32_t>(std::bit_width(value)) - 1U;
    const std::uint32_t fraction = (value << (10U + 1U) >> (exponent + 1U)) & 0x3FFU;
    return static_cast<std::uint16_t>(((exponent + 15U) << 10U) | fraction);
}

}  // namespace gradstorm::memory
