// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/histogram.h"

#include "engine/measure/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace gradstorm::measure {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

double relative_error(std::int64_t got, std::int64_t want) {
    return std::abs(static_cast<double>(got) - static_cast<double>(want)) / std::max(1.0, static_cast<double>(want));
}

TEST(HistogramTest, BucketsTileAllValuesInOrder) {
    EXPECT_EQ(Histogram::lowest_of(0), 0);
    for (std::uint32_t b = 0; b + 1 < Histogram::kBuckets; ++b) {
        ASSERT_EQ(Histogram::bucket_of(Histogram::lowest_of(b)), b);
        ASSERT_EQ(Histogram::bucket_of(Histogram::highest_of(b)), b);
        ASSERT_EQ(Histogram::highest_of(b) + 1, Histogram::lowest_of(b + 1));
    }
    EXPECT_EQ(Histogram::bucket_of(kLargest), Histogram::kBuckets - 1);
    EXPECT_EQ(Histogram::highest_of(Histogram::kBuckets - 1), kLargest);
    EXPECT_EQ(Histogram::bucket_of(-1), 0U);
    EXPECT_EQ(Histogram::bucket_of(std::numeric_limits<std::int64_t>::min()), 0U);
}

TEST(HistogramTest, EverySampleIsWithinOnePercentOfItsMidpoint) {
    std::mt19937_64 random(20260301);
    for (int i = 0; i < 200'000; ++i) {
        const auto value = static_cast<std::int64_t>(random() >> (1U + random() % 63U));
        Histogram h;
        if (i % 1000 == 0) {  // a whole histogram now and then, the bucket ends always
            h.record(value);
            ASSERT_LE(relative_error(*h.quantile(0.5), value), 0.01) << value;
            ASSERT_LE(relative_error(*h.min(), value), 0.01) << value;
            ASSERT_LE(relative_error(*h.max(), value), 0.01) << value;
        }
        const std::uint32_t b = Histogram::bucket_of(value);
        const std::int64_t low = Histogram::lowest_of(b);
        const std::int64_t mid = low + (Histogram::highest_of(b) - low) / 2;
        ASSERT_LE(relative_error(mid, value), 1.0 / 128) << value;
    }
}

class HistogramPercentiles : public testing::TestWithParam<int> {};

std::vector<std::int64_t> samples_of(int shape, std::size_t count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(shape) * 7919 + count);
    std::vector<std::int64_t> out(count);
    std::lognormal_distribution<double> tail(9, 1.5);
    std::uniform_int_distribution<std::int64_t> flat(0, 1'000'000);
    std::exponential_distribution<double> decay(1e-4);
    for (auto& v : out) {
        switch (shape) {
            case 0: v = flat(random); break;
            case 1: v = static_cast<std::int64_t>(tail(random)); break;
            case 2: v = static_cast<std::int64_t>(decay(random)); break;
            case 3: v = random() % 100 == 0 ? 900'000'000 : 5'000; break;
            default: v = 77; break;
        }
    }
    return out;
}

TEST_P(HistogramPercentiles, AgreeWithSortedSamples) {
    for (const std::size_t count : {1U, 2U, 9U, 100U, 4'321U, 50'000U}) {
        std::vector<std::int64_t> samples = samples_of(GetParam(), count);
        Histogram h;
        for (const std::int64_t v : samples) h.record(v);
        std::sort(samples.begin(), samples.end());
        EXPECT_EQ(h.count(), count);
        for (const double p : {0.0, 0.01, 0.07, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0})
            EXPECT_LE(relative_error(*h.quantile(p), sorted_quantile(samples, p)->value), 0.01) << p << " of " << count;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HistogramPercentiles, testing::Range(0, 5));

TEST(HistogramTest, MergingEqualsRecordingEverythingInOne) {
    std::mt19937_64 random(7);
    Histogram whole;
    std::vector<Histogram> parts(5);
    for (int i = 0; i < 100'000; ++i) {
        const auto v = static_cast<std::int64_t>(random() >> (random() % 40U + 1U));
        whole.record(v);
        parts[random() % parts.size()].record(v);
    }
    Histogram merged;
    for (const auto& part : parts) merged.merge(part);
    EXPECT_EQ(merged, whole);
    EXPECT_EQ(merged.count(), 100'000U);
}

TEST(HistogramTest, CountsAreExactUpToTwoToThe63) {
    Histogram h;
    constexpr auto kMany = std::uint64_t{1} << 62U;
    h.record(10, kMany);
    h.record(1000, kMany - 1);
    EXPECT_EQ(h.count(), (std::uint64_t{1} << 63U) - 1);
    EXPECT_EQ(h.quantile(0.5), 10);  // rank 2^62 is the last of the tens
    EXPECT_LE(relative_error(*h.quantile(0.500001), 1000), 0.01);
    Histogram other = h;
    other.merge(h);
    EXPECT_EQ(other.count(), (std::uint64_t{1} << 63U) * 2 - 2);
    other.merge(h);
    EXPECT_EQ(other.count(), std::numeric_limits<std::uint64_t>::max()) << "saturates, never wraps";
    EXPECT_GE(*other.quantile(0.999), 10);
}

TEST(HistogramTest, NothingRecordedIsNothingNotZero) {
    const Histogram h;
    EXPECT_EQ(h.count(), 0U);
    EXPECT_EQ(h.quantile(0.5), std::nullopt);
    EXPECT_EQ(h.min(), std::nullopt);
    EXPECT_EQ(h.max(), std::nullopt);
    EXPECT_FALSE(h.enough_for(0.5));
}

TEST(HistogramTest, MinimumOfFiveAndSevenIsFive) {
    Histogram h;
    h.record(7);
    h.record(5);
    EXPECT_EQ(h.min(), 5);
    EXPECT_EQ(h.max(), 7);
}

TEST(HistogramTest, PercentilesNeedTenSamplesBeyondThem) {
    Histogram h;
    h.record(1, 9'999);
    EXPECT_FALSE(h.enough_for(0.999));
    h.record(1);
    EXPECT_TRUE(h.enough_for(0.999));
    EXPECT_FALSE(h.enough_for(0.9999));
    h.record(1, 90'000);
    EXPECT_TRUE(h.enough_for(0.9999));
}

TEST(HistogramTest, BackwardClocksCountAsZero) {
    Histogram h;
    h.record(-5);
    EXPECT_EQ(h.min(), 0);
    EXPECT_EQ(h.count(), 1U);
}

}  // namespace
}  // namespace gradstorm::measure
