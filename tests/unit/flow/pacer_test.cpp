// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace gradstorm::flow {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000'000;
constexpr std::uint64_t kMillisecond = kSecond / 1'000;
constexpr std::uint64_t kMicrosecond = kMillisecond / 1'000;
constexpr PacerSettings kPatient{.tolerance_ps = ~std::uint64_t{0} / 2};

TEST(Gap, IsExactToTheFraction) {
    EXPECT_EQ(gap_at(1e6, 1), (Picoseconds{1'000'000, 0}));
    EXPECT_EQ(gap_at(400e9, 8 * 4194), (Picoseconds{83'880, 0}));  // a full frame of RoCE at 400 Gb/s
    const Picoseconds third = gap_at(3e12, 1);
    EXPECT_EQ(third.whole, 0U);
    EXPECT_NEAR(static_cast<double>(third.fraction), std::ldexp(1.0, 64) / 3, 1e4);
    EXPECT_EQ((third + third + third).whole, 0U);
    EXPECT_EQ((Picoseconds{1, ~std::uint64_t{0}} + Picoseconds{1, 1}), (Picoseconds{3, 0}));
}

/// Row 8 of the faults that other generators have: the schedule must not run away from the rate.
TEST(Pacer, AThousandMillionFramesDriftByLessThanOne) {
    constexpr std::size_t kFrames = 1'000'000'000;
    constexpr double kRate = 148'809'523.8;  // 64-byte frames at 100 Gb/s: no whole number of picoseconds
    Pacer pacer(kPatient, 0);
    ASSERT_EQ(pacer.take(kPatient.tolerance_ps, kFrames, gap_at(kRate, 1)), kFrames);
    const long double exact = kFrames * 1e12L / static_cast<long double>(kRate);
    EXPECT_LT(std::fabs(static_cast<long double>(pacer.deadline_ps()) - exact), 2.0L);
}

TEST(Pacer, NoFrameIsDueBeforeItsTime) {
    Pacer pacer({}, 1'000);
    const Picoseconds gap = gap_at(1e6, 1);
    EXPECT_EQ(pacer.take(999, 8, gap), 0U);
    EXPECT_EQ(pacer.take(1'000, 8, gap), 1U);
    EXPECT_EQ(pacer.deadline_ps(), 1'001'000U);
    EXPECT_EQ(pacer.take(1'000'999, 8, gap), 0U);
    EXPECT_EQ(pacer.take(3'001'000, 8, gap), 3U) << "and what is due meanwhile leaves together";
    EXPECT_EQ(pacer.take(3'001'000 + 20 * kMicrosecond, 8, gap), 8U) << "but no more than asked for";
    EXPECT_EQ(pacer.counters().taken, 12U);
}

TEST(Pacer, FramesOfABurstLeaveTogetherAndTheRateStays) {
    Pacer pacer({.burst = 32}, 0);
    const Picoseconds gap = gap_at(1e6, 1);
    EXPECT_EQ(pacer.take(0, 20, gap), 20U);
    EXPECT_EQ(pacer.take(0, 64, gap), 12U) << "the rest of the burst";
    EXPECT_EQ(pacer.deadline_ps(), 32 * kMicrosecond);
    EXPECT_EQ(pacer.take(31 * kMicrosecond, 64, gap), 0U);
    EXPECT_EQ(pacer.take(32 * kMicrosecond, 64, gap), 32U);
}

/// A sender that polls every microsecond but for one stall; returns frames sent and the largest batch.
struct Outcome {
    std::size_t sent = 0;
    std::size_t largest = 0;
};
Outcome run_with_stall(Pacer& pacer, Picoseconds gap, std::uint64_t stall, std::uint64_t end) {
    Outcome outcome;
    for (std::uint64_t now = 0; now < end; now += now == kMillisecond ? stall : kMicrosecond) {
        const std::size_t taken = pacer.take(now, 1'000'000, gap);
        outcome.sent += taken;
        outcome.largest = std::max(outcome.largest, taken);
    }
    return outcome;
}

/// Row 46: after a stall of 10 ms the burst is bounded, and what became of the missed slots is in the counters.
TEST(Pacer, SkipsWhatAStallMadeItMiss) {
    Pacer pacer({.late = LatePolicy::skip, .tolerance_ps = 100 * kMicrosecond}, 0);
    const Outcome outcome = run_with_stall(pacer, gap_at(1e7, 1), 10 * kMillisecond, 100 * kMillisecond);
    EXPECT_LE(outcome.largest, 1'001U) << "100 us at 10 Mpps";
    EXPECT_EQ(pacer.counters().late, 1U);
    EXPECT_NEAR(static_cast<double>(pacer.counters().skipped), 99'000, 20);
    EXPECT_NEAR(static_cast<double>(outcome.sent + pacer.counters().skipped), 1'000'000, 20);
    EXPECT_EQ(pacer.deadline_ps() % 100'000, 0U) << "still on the grid of the schedule";
}

TEST(Pacer, StretchesTheScheduleByWhatAStallTook) {
    Pacer pacer({.late = LatePolicy::stretch, .tolerance_ps = 100 * kMicrosecond}, 0);
    const Outcome outcome = run_with_stall(pacer, gap_at(1e7, 1), 10 * kMillisecond, 100 * kMillisecond);
    EXPECT_LE(outcome.largest, 1'001U);
    EXPECT_EQ(pacer.counters().skipped, 0U);
    EXPECT_NEAR(static_cast<double>(pacer.counters().stretched_ps), 9.9 * kMillisecond, 2.0 * kMicrosecond);
    const double lost = static_cast<double>(pacer.counters().stretched_ps) / 100'000;
    EXPECT_NEAR(static_cast<double>(outcome.sent) + lost, 1'000'000, 20) << "nothing else is missing";
}

TEST(Pacer, CatchesUpWithinTheTolerance) {
    Pacer pacer({.tolerance_ps = 20 * kMillisecond}, 0);
    const Outcome outcome = run_with_stall(pacer, gap_at(1e7, 1), 10 * kMillisecond, 100 * kMillisecond);
    EXPECT_NEAR(static_cast<double>(outcome.sent), 1'000'000, 20);
    EXPECT_EQ(pacer.counters().late, 0U);
}

TEST(Pacer, FramesOfManySizesKeepTheRateOfTheirBits) {
    constexpr double kRate = 100e9;
    Pacer pacer(kPatient, 0);
    std::mt19937_64 random{5};
    std::uint64_t bits = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        const std::uint64_t frame = 8 * (78 + random() % 4096);
        bits += frame;
        ASSERT_EQ(pacer.take(kPatient.tolerance_ps, 1, gap_at(kRate, frame)), 1U);
    }
    EXPECT_NEAR(static_cast<double>(pacer.deadline_ps()), static_cast<double>(bits) * 1e12 / kRate, 2);
}

}  // namespace
}  // namespace gradstorm::flow
