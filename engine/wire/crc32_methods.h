// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Private to the CRC-32 of this folder: its arithmetic, and one function for each implementation.
namespace gradstorm::wire::crc32_detail {

inline constexpr std::uint32_t kPolynomial = 0xEDB8'8320;  ///< bit-reflected: bit 31 is the coefficient of x^0

/// value * x mod P.
[[nodiscard]] constexpr std::uint32_t times_x(std::uint32_t value) {
    return value >> 1U ^ ((value & 1U) != 0 ? kPolynomial : 0);
}

/// x^n mod P.
[[nodiscard]] constexpr std::uint32_t power_of_x(unsigned n) {
    std::uint32_t value = 0x8000'0000;
    for (unsigned i = 0; i < n; ++i) value = times_x(value);
    return value;
}

/// a * b mod P.
[[nodiscard]] constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; a != 0; a <<= 1U, b = times_x(b)) {
        if ((a & 0x8000'0000U) != 0) product ^= b;
    }
    return product;
}

/// tables[k][v]: what byte v adds to the state when k more bytes of the same step follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
extern const Tables kTables;

[[nodiscard]] std::uint32_t update_table(std::uint32_t state, const std::byte* data, std::size_t size);

#if defined(__x86_64__)
[[nodiscard]] bool has_pclmul();
[[nodiscard]] bool has_vpclmul();
[[nodiscard]] std::uint32_t update_pclmul(std::uint32_t state, const std::byte* data, std::size_t size);
[[nodiscard]] std::uint32_t update_vpclmul(std::uint32_t state, const std::byte* data, std::size_t size);
#endif

}  // namespace gradstorm::wire::crc32_detail
