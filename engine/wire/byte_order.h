// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gradstorm::wire {

namespace detail {
template <std::unsigned_integral T>
[[nodiscard]] inline T swap_bytes(T value) {
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else {
        static_assert(sizeof(T) == 8);
        return __builtin_bswap64(value);
    }
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
