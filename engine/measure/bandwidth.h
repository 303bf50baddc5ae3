// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "engine/measure/data_type.h"

#include <cstdint>
#include <optional>

/// The bandwidth formulas of docs/measurement.md (K1, K2, K4, K5). A time that is not positive means that nothing was
/// measured: the result is empty, never 0, infinite or negative.
namespace gradstorm::measure {

/// K1: size of the collective over its completion time, in GB/s (1e9 bytes a second), as nccl-tests computes it.
[[nodiscard]] std::optional<double> algorithm_gbytes_per_s(std::uint64_t bytes, double nanoseconds);

/// K2: algorithm bandwidth x bus_bandwidth_factor(). 0 for one rank where the factor holds (n-1). It may exceed the
/// rate of a port without any error where a collective moves less than the factor credits.
[[nodiscard]] std::optional<double> bus_gbytes_per_s(CollectiveKind kind, std::uint32_t ranks, std::uint64_t bytes,
                                                     double nanoseconds);

/// Bits that were delivered a second.
[[nodiscard]] std::optional<BitsPerSecond> rate_of(std::uint64_t bytes, double nanoseconds);

/// 100 x part / whole: K4 with (ideal time, measured time), K5 with (goodput, line rate x goodput fraction). Empty when
/// the whole is not positive.
[[nodiscard]] std::optional<double> percent_of(double part, double whole);

/// Share of the line rate that payload takes at most: full frames of a RoCEv2 message without VLAN tag, over IPv4 (82
/// bytes of headers, ICRC, FCS, preamble and gap a frame) or IPv6 (102).
[[nodiscard]] double goodput_fraction(std::uint32_t path_mtu, bool ipv6);

}  // namespace gradstorm::measure
