// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>
#include <time.h>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gradstorm::measure {
namespace {

#if defined(__aarch64__)
constexpr const char* kCounterName = "cntvct";
#else
constexpr const char* kCounterName = "tsc";
#endif

constexpr int kTriesPerReading = 32;
constexpr std::size_t kReadings = 5;

std::int64_t read_raw() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

std::string describe_counter(double ticks_per_s) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%s %.3f MHz", kCounterName, ticks_per_s / 1e6);
    return text.data();
}

}  // namespace

bool has_invariant_counter() {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned kPowerLeaf = 0x80000007U;
    constexpr unsigned kInvariantTsc = 1U << 8U;
    return __get_cpuid(kPowerLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantTsc) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

ClockReading read_both_clocks() {
    // The tightest of several brackets around a reading of the raw clock: preemption in between only widens one.
    ClockReading best;
    std::uint64_t width = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < kTriesPerReading; ++i) {
        const std::uint64_t before = read_cycle_counter();
        const std::int64_t raw = read_raw();
        const std::uint64_t after = read_cycle_counter();
        if (after - before < width) {
            width = after - before;
            best = {before + width / 2, raw};
        }
    }
    return best;
}

ClockRate fit_clock_rate(std::span<const ClockReading> readings) {
    if (readings.size() < 2) return {};
    const ClockReading& first = readings.front();
    const ClockReading& last = readings.back();
    if (last.raw_ns <= first.raw_ns || last.ticks <= first.ticks) return {};
    const auto elapsed_ns = static_cast<double>(last.raw_ns - first.raw_ns);
    ClockRate rate;
    rate.ticks_per_s = static_cast<double>(last.ticks - first.ticks) * 1e9 / elapsed_ns;
    for (const ClockReading& r : readings) {
        // Signed differences: a reading out of order is a large residual, not an overflow.
        const double by_counter =
            static_cast<double>(static_cast<std::int64_t>(r.ticks - first.ticks)) * 1e9 / rate.ticks_per_s;
        const double off = std::abs(by_counter - static_cast<double>(r.raw_ns - first.raw_ns));
        rate.residual_ppm = std::max(rate.residual_ppm, off / elapsed_ns * 1e6);
    }
    return rate;
}

TscClock TscClock::calibrate(Nanoseconds span) {
    if (!has_invariant_counter()) return monotonic_raw(std::string{"no invariant "} + kCounterName);
    std::array<ClockReading, kReadings> readings{};
    for (std::size_t i = 0; i < kReadings; ++i) {
        if (i != 0) std::this_thread::sleep_for(span / static_cast<std::int64_t>(kReadings - 1));
        readings[i] = read_both_clocks();
    }
    const ClockRate rate = fit_clock_rate(readings);
    if (!(rate.ticks_per_s > 0)) return monotonic_raw(std::string{kCounterName} + " does not advance");
    TscClock clock;
    clock.multiplier_ = std::llround(std::ldexp(1e9 / rate.ticks_per_s, static_cast<int>(kFractionBits)));
    clock.calibration_residual_ppm_ = rate.residual_ppm;
    clock.description_ = describe_counter(rate.ticks_per_s);
    clock.start_ = read_both_clocks();
    return clock;
}

TscClock TscClock::monotonic_raw(std::string why) {
    TscClock clock;
    clock.description_ = "clock_monotonic_raw (" + std::move(why) + ")";
    clock.start_ = read_both_clocks();
    return clock;
}

Instant TscClock::raw_now() const { return Instant{Nanoseconds{read_raw() - start_.raw_ns}}; }

double TscClock::residual_ppm() const {
    if (multiplier_ == 0) return 0;
    const ClockReading r = read_both_clocks();
    const std::int64_t elapsed = r.raw_ns - start_.raw_ns;
    if (elapsed <= 0) return calibration_residual_ppm_;
    const std::int64_t off = to_nanoseconds(r.ticks - start_.ticks) - elapsed;
    return std::abs(static_cast<double>(off)) / static_cast<double>(elapsed) * 1e6;
}

}  // namespace gradstorm::measure
