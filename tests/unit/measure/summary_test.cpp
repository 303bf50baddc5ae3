// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace gradstorm::measure {
namespace {

TEST(SummaryTest, NearestRankIsExactInDecimalFractions) {
    for (std::uint64_t n : {1U, 2U, 7U, 100U, 1000U, 12'345U})
        for (std::uint64_t hundredths = 1; hundredths <= 100; ++hundredths)
            EXPECT_EQ(nearest_rank(n, static_cast<double>(hundredths) / 100), (n * hundredths + 99) / 100)
                << hundredths << " % of " << n;
    EXPECT_EQ(nearest_rank(100, 0), 1U);
    EXPECT_EQ(nearest_rank(std::numeric_limits<std::uint64_t>::max(), 1), std::numeric_limits<std::uint64_t>::max());
}

TEST(SummaryTest, NoSamplesGiveNoSummary) {
    EXPECT_FALSE(summarise({}));
    EXPECT_FALSE(sorted_quantile({}, 0.5));
}

TEST(SummaryTest, KnownSet) {
    const std::vector<std::int64_t> samples{2, 4, 4, 4, 5, 5, 7, 9};
    const auto s = summarise(samples);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->count, 8U);
    EXPECT_EQ(s->min, 2);
    EXPECT_EQ(s->max, 9);
    EXPECT_DOUBLE_EQ(s->mean, 5);
    EXPECT_EQ(s->median.value, 4);  // nearest rank: the fourth of eight
    EXPECT_EQ(s->p90.value, 9);
    EXPECT_DOUBLE_EQ(*s->cv, std::sqrt(32.0 / 7) / 5);
    EXPECT_FALSE(s->p99.trusted);
}

TEST(SummaryTest, OneSampleHasNoSpread) {
    const std::vector<std::int64_t> one{42};
    const auto s = summarise(one);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->min, 42);
    EXPECT_EQ(s->p999.value, 42);
    EXPECT_EQ(s->cv, std::nullopt);
    EXPECT_FALSE(s->median.trusted);
}

TEST(SummaryTest, QuantilesAreTrustedFromTenSamplesBeyond) {
    std::vector<std::int64_t> samples(1000);
    std::iota(samples.begin(), samples.end(), 1);
    const auto s = summarise(samples);
    EXPECT_EQ(s->p99.value, 990);
    EXPECT_TRUE(s->p99.trusted);
    EXPECT_FALSE(s->p999.trusted);
    EXPECT_TRUE(enough_samples(20, 0.5));
    EXPECT_FALSE(enough_samples(19, 0.5));
}

TEST(SummaryTest, LargestTimesNeverTurnNegative) {
    const std::vector<std::int64_t> samples(1000, std::numeric_limits<std::int64_t>::max());
    const auto s = summarise(samples);
    EXPECT_GT(s->mean, 9.2e18);
    EXPECT_TRUE(std::isfinite(s->mean));
    EXPECT_DOUBLE_EQ(*s->cv, 0);
}

}  // namespace
}  // namespace gradstorm::measure
