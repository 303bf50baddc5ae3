// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

/// Quantities as people write them in profiles: a decimal number and a unit, "512KiB", "2.5Gb/s", "50us", "40%".
///
/// Values are whole numbers of the base unit, exact: "0.1us" is 100 ns, "0.1ns" is an error, never rounded. The largest
/// value is 2^63-1, so that it fits the signed 64-bit columns of the run store and std::chrono::nanoseconds.
namespace gradstorm::profiles {

enum class Dimension {
    size,          ///< bytes; B, KiB, MiB, GiB, TiB, PiB (powers of two)
    duration,      ///< nanoseconds; ns, us, ms, s, min, h
    rate,          ///< bits a second; b/s, kb/s, Mb/s, Gb/s, Tb/s and B/s, kB/s, MB/s, GB/s, TB/s (decimal)
    share,         ///< parts per billion; %, ppm, ppb
    compute_rate,  ///< floating-point operations a second; FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s
    packet_rate,   ///< packets a second; pps, kpps, Mpps
};

inline constexpr std::uint64_t kLargestQuantity = (std::uint64_t{1} << 63U) - 1;
inline constexpr std::uint64_t kPartsPerBillion = 1'000'000'000;

/// The value in base units. The error says what is wrong and, where the unit is, which units there are.
[[nodiscard]] Result<std::uint64_t> parse_quantity(std::string_view text, Dimension dimension);

/// The shortest whole number with a unit that says exactly `value`: 65536 -> "64KiB", 1'500'000 ns -> "1500us".
/// parse_quantity() gives the same value back.
[[nodiscard]] std::string format_quantity(std::uint64_t value, Dimension dimension);

[[nodiscard]] std::string_view to_string(Dimension dimension);  ///< "size", "duration", "compute rate", ...

/// For messages: "B, KiB, MiB, GiB, TiB or PiB".
[[nodiscard]] std::string unit_list(Dimension dimension);

}  // namespace gradstorm::profiles
