// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gradstorm::wire {

namespace detail {
// The compiler turns this loop into one bswap instruction.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T swap_bytes(T value) {
    T swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        swapped = static_cast<T>(swapped | ((value >> (8 * i)) & 0xFFU) << (8 * (sizeof(T) - 1 - i)));
    }
    return swapped;
}
}  // namespace detail

/// Reads and writes of integers at any alignment. Network headers are big endian; the ICRC and capture files of our
/// own are little endian.
template <std::unsigned_integral T>
[[nodiscard]] inline T load(const std::byte* at, std::endian order) {
    T value{};
    std::memcpy(&value, at, sizeof(T));
    return order == std::endian::native ? value : detail::swap_bytes(value);
}

template <std::unsigned_integral T>
inline void store(std::byte* at, T value, std::endian order) {
    if (order != std::endian::native) value = detail::swap_bytes(value);
    std::memcpy(at, &value, sizeof(T));
}

template <std::unsigned_integral T>
[[nodiscard]] inline T load_big(const std::byte* at) {
    return load<T>(at, std::endian::big);
}

template <std::unsigned_integral T>
inline void store_big(std::byte* at, T value) {
    store<T>(at, value, std::endian::big);
}

template <std::unsigned_integral T>
[[nodiscard]] inline T load_little(const std::byte* at) {
    return load<T>(at, std::endian::little);
}

template <std::unsigned_integral T>
inline void store_little(std::byte* at, T value) {
    store<T>(at, value, std::endian::little);
}

/// 24-bit fields: queue pair number, PSN, MSN. Bits above the 24th are ignored.
[[nodiscard]] inline std::uint32_t load_big24(const std::byte* at) {
    return std::to_integer<std::uint32_t>(at[0]) << 16U | std::to_integer<std::uint32_t>(at[1]) << 8U |
           std::to_integer<std::uint32_t>(at[2]);
}

inline void store_big24(std::byte* at, std::uint32_t value) {
    at[0] = static_cast<std::byte>(value >> 16U);
    at[1] = static_cast<std::byte>(value >> 8U);
    at[2] = static_cast<std::byte>(value);
}

}  // namespace gradstorm::wire
