// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <cstdint>
#include <span>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// The clock of the real driver. Nobody else may hold one: all other parts get the time as an argument.
namespace gradstorm::measure {

/// The processor's cycle counter: TSC on amd64, CNTVCT on arm64, 0 elsewhere. Not serialising: a few tens of
/// nanoseconds of reordering do not matter for what is timed here.
[[nodiscard]] inline std::uint64_t read_cycle_counter() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/// Whether the cycle counter runs at one rate in all power states (amd64: CPUID 0x80000007, EDX bit 8; arm64: by
/// architecture).
[[nodiscard]] bool has_invariant_counter();

/// One reading of both clocks at (nearly) the same moment.
struct ClockReading {
    std::uint64_t ticks = 0;
    std::int64_t raw_ns = 0;  ///< CLOCK_MONOTONIC_RAW
};
[[nodiscard]] ClockReading read_both_clocks();

/// The counter's rate from readings in time order.
struct ClockRate {
    double ticks_per_s = 0;   ///< 0: the readings give no rate
    double residual_ppm = 0;  ///< how far the reading farthest off lies from the line through first and last, as a
                              ///< share of the time between these two
};
[[nodiscard]] ClockRate fit_clock_rate(std::span<const ClockReading> readings);

/// A clock on the run's axis: zero is where it was made. Calibrated against CLOCK_MONOTONIC_RAW, never from
/// /proc/cpuinfo, whose MHz is not the counter's rate. Without an invariant counter it reads CLOCK_MONOTONIC_RAW and
/// says so. Copies share the axis; now() may be called from any thread.
class TscClock {
public:
    /// Blocks for `span` while it calibrates.
    [[nodiscard]] static TscClock calibrate(Nanoseconds span = std::chrono::milliseconds{50});
    /// The fallback, whatever the processor can do.
    [[nodiscard]] static TscClock monotonic_raw(std::string why);

    [[nodiscard]] Instant now() const {
        if (multiplier_ == 0) return raw_now();
        return Instant{Nanoseconds{to_nanoseconds(read_cycle_counter() - start_.ticks)}};
    }
    /// Difference between this clock and CLOCK_MONOTONIC_RAW since the start, in parts per million: calibration error
    /// and drift together. Belongs into the run's self-check, read at its end.
    [[nodiscard]] double residual_ppm() const;
    /// Scatter of the readings during calibration.
    [[nodiscard]] double calibration_residual_ppm() const { return calibration_residual_ppm_; }
    /// "tsc 2596.153 MHz", "cntvct 1000.000 MHz", "clock_monotonic_raw (no invariant tsc)"
    [[nodiscard]] const std::string& description() const { return description_; }

    /// ticks x multiplier / 2^32 in 128 bits: no overflow for centuries. Signed, since the counter of another core may
    /// be a few ticks behind.
    [[nodiscard]] std::int64_t to_nanoseconds(std::uint64_t ticks) const {
        __extension__ using Wide = __int128;
        return static_cast<std::int64_t>((static_cast<Wide>(static_cast<std::int64_t>(ticks)) * multiplier_) >>
                                         kFractionBits);
    }

private:
    static constexpr unsigned kFractionBits = 32;
    TscClock() = default;
    [[nodiscard]] Instant raw_now() const;

    ClockReading start_;
    std::int64_t multiplier_ = 0;  ///< nanoseconds a tick x 2^32; 0: no counter
    double calibration_residual_ppm_ = 0;
    std::string description_;
};

}  // namespace gradstorm::measure
