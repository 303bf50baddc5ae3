// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"

#include "engine/wire/line_rate.h"

namespace gradstorm::measure {
std::optional<double> algorithm_gbytes_per_s(std::uint64_t bytes, double nanoseconds) {
    if (!(nanoseconds > 0)) return std::nullopt;
    return static_cast<double>(bytes) / nanoseconds;  // bytes a nanosecond are GB a second
}

std::optional<double> bus_gbytes_per_s(CollectiveKind kind, std::uint32_t ranks, std::uint64_t bytes,
                                       double nanoseconds) {
    const auto algorithm = algorithm_gbytes_per_s(bytes, nanoseconds);
    if (!algorithm) return std::nullopt;
    return *algorithm * bus_bandwidth_factor(kind, ranks);
}

std::optional<BitsPerSecond> rate_of(std::uint64_t bytes, double nanoseconds) {
    if (!(nanoseconds > 0)) return std::nullopt;
    return BitsPerSecond{static_cast<double>(bytes) * 8e9 / nanoseconds};
}

std::optional<double> percent_of(double part, double whole) {
    if (!(whole > 0)) return std::nullopt;
    return 100 * part / whole;
}

double goodput_fraction(std::uint32_t path_mtu, bool ipv6) { return wire::goodput_fraction(path_mtu, {.ipv4 = !ipv6}); }

}  // namespace gradstorm::measure
