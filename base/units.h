// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace gradstorm {

/// A number of bytes. KiB, MiB and GiB are powers of two.
struct Bytes {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(Bytes, Bytes) = default;
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
    constexpr Bytes& operator+=(Bytes b) {
        value += b.value;
        return *this;
    }
};

/// A data rate in bits a second; Gb/s is decimal.
struct BitsPerSecond {
    double value = 0;

    friend constexpr auto operator<=>(BitsPerSecond, BitsPerSecond) = default;
};

[[nodiscard]] constexpr double gigabits(BitsPerSecond rate) { return rate.value / 1e9; }

}  // namespace gradstorm
