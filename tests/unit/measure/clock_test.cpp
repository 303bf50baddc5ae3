// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace gradstorm::measure {
namespace {

using namespace std::chrono_literals;

TEST(ClockTest, FitsAnExactRate) {
    std::vector<ClockReading> readings;
    for (std::int64_t i = 0; i < 5; ++i)
        readings.push_back({1'000'000'000'000U + static_cast<std::uint64_t>(i) * 25'000'000U, 77 + i * 10'000'000});
    const ClockRate rate = fit_clock_rate(readings);
    EXPECT_DOUBLE_EQ(rate.ticks_per_s, 2.5e9);
    EXPECT_NEAR(rate.residual_ppm, 0, 1e-6);
}

TEST(ClockTest, ScatterOfAReadingIsTheResidual) {
    // The middle reading of 20 ms lies 200 ns off: 10 ppm.
    const std::vector<ClockReading> readings{{0, 0}, {25'000'500, 10'000'000}, {50'000'000, 20'000'000}};
    EXPECT_NEAR(fit_clock_rate(readings).residual_ppm, 10, 1e-6);
}

TEST(ClockTest, ReadingsWithoutProgressGiveNoRate) {
    EXPECT_EQ(fit_clock_rate({}).ticks_per_s, 0);
    const std::vector<ClockReading> stuck{{5, 0}, {5, 10}};
    EXPECT_EQ(fit_clock_rate(stuck).ticks_per_s, 0);
    const std::vector<ClockReading> backwards{{5, 10}, {9, 3}};
    EXPECT_EQ(fit_clock_rate(backwards).ticks_per_s, 0);
}

TEST(ClockTest, FollowsTheSystemsRawClock) {
    const TscClock clock = TscClock::calibrate(20ms);
    std::this_thread::sleep_for(20ms);
    EXPECT_LT(clock.residual_ppm(), 200) << clock.description();
    EXPECT_LT(clock.calibration_residual_ppm(), 200) << clock.description();
    const Instant first = clock.now();
    EXPECT_GE(first.time_since_epoch(), 20ms);
    EXPECT_LT(first.time_since_epoch(), 10s);
    EXPECT_LE(first, clock.now());
}

TEST(ClockTest, FallbackSaysWhatItIs) {
    const TscClock clock = TscClock::monotonic_raw("no invariant tsc");
    EXPECT_EQ(clock.description(), "clock_monotonic_raw (no invariant tsc)");
    const Instant first = clock.now();
    EXPECT_GE(first.time_since_epoch().count(), 0);
    std::this_thread::sleep_for(2ms);
    EXPECT_GE(clock.now() - first, 2ms);
    EXPECT_EQ(clock.residual_ppm(), 0);
}

TEST(ClockTest, ThirtyDaysOfTicksConvertWithoutOverflow) {
    if (!has_invariant_counter()) GTEST_SKIP() << "no invariant counter";
    const TscClock clock = TscClock::calibrate(10ms);
    const std::int64_t second = clock.to_nanoseconds(1'000'000'000U);  // 1e9 ticks
    const std::int64_t many = clock.to_nanoseconds(1'000'000'000ULL * 10'000'000U);
    EXPECT_GT(many, 0);
    EXPECT_NEAR(static_cast<double>(many), static_cast<double>(second) * 1e7, static_cast<double>(many) * 1e-8);
    EXPECT_LE(clock.to_nanoseconds(static_cast<std::uint64_t>(-5)), 0) << "a counter slightly behind is no far future";
}

}  // namespace
}  // namespace gradstorm::measure
