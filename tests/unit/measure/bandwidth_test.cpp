// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradstorm::measure {
namespace {

TEST(BandwidthTest, AgreesWithThePublishedFormulas) {
    // 32 MiB in 1162.20 us on eight ranks: 28.87 and 50.53 GB/s in the field's table.
    const double t = 1162.20e3;
    EXPECT_NEAR(*algorithm_gbytes_per_s(33554432, t), 28.87, 0.005);
    EXPECT_NEAR(*bus_gbytes_per_s(CollectiveKind::all_reduce, 8, 33554432, t), 50.53, 0.005);
    for (std::uint32_t n = 1; n <= 64; ++n) {
        const double algorithm = 1'000'000 / 5'000.0;
        const double x = n;
        EXPECT_DOUBLE_EQ(*bus_gbytes_per_s(CollectiveKind::all_reduce, n, 1'000'000, 5'000),
                         algorithm * 2 * (x - 1) / x);
        EXPECT_DOUBLE_EQ(*bus_gbytes_per_s(CollectiveKind::all_gather, n, 1'000'000, 5'000), algorithm * (x - 1) / x);
        EXPECT_DOUBLE_EQ(*bus_gbytes_per_s(CollectiveKind::broadcast, n, 1'000'000, 5'000), algorithm);
    }
}

TEST(BandwidthTest, NoTimeIsNoBandwidth) {
    for (const double t : {0.0, -1.0, std::nan("")}) {
        EXPECT_EQ(algorithm_gbytes_per_s(1, t), std::nullopt);
        EXPECT_EQ(bus_gbytes_per_s(CollectiveKind::all_reduce, 2, 1, t), std::nullopt);
        EXPECT_FALSE(rate_of(1, t));
        EXPECT_EQ(percent_of(1, t), std::nullopt);
    }
}

TEST(BandwidthTest, ThirtyDaysAtTheLargestCounterStayFiniteAndPositive) {
    constexpr auto kBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    constexpr double kThirtyDays = 30.0 * 86'400e9;
    for (const double value :
         {*algorithm_gbytes_per_s(kBytes, kThirtyDays), *bus_gbytes_per_s(CollectiveKind::all_reduce, 64, kBytes, 1),
          rate_of(kBytes, kThirtyDays)->value, *percent_of(1e30, 1)}) {
        EXPECT_TRUE(std::isfinite(value));
        EXPECT_GT(value, 0);
    }
}

TEST(BandwidthTest, GoodputFractionsOfTheLineRateTable) {
    const struct {
        std::uint32_t mtu;
        double percent;
    } rows[] = {{256, 75.740}, {512, 86.195}, {1024, 92.586}, {2048, 96.150}, {4096, 98.037}};
    for (const auto& row : rows) EXPECT_NEAR(100 * goodput_fraction(row.mtu, false), row.percent, 0.0005) << row.mtu;
    EXPECT_NEAR(100 * goodput_fraction(1024, true), 90.941, 0.0005);
    EXPECT_NEAR(100 * goodput_fraction(4096, true), 97.570, 0.001);
    // 400 Gb/s at MTU 4096 carries 392.15 Gb/s of payload.
    EXPECT_NEAR(400 * goodput_fraction(4096, false), 392.15, 0.005);
}

}  // namespace
}  // namespace gradstorm::measure
