// SPDX-License-Identifier: Apache-2.0
#include "storage/report/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace gradstorm::report {
namespace {

TEST(FormatTest, Sizes) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(8), "8 B");
    EXPECT_EQ(size_text(1024), "1 KiB");
    EXPECT_EQ(size_text(64U << 20U), "64 MiB");
    EXPECT_EQ(size_text(std::uint64_t{3} << 30U), "3 GiB");
    EXPECT_EQ(size_text(8'196'000), "8,196,000 B");
    EXPECT_EQ(count_text(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1000), "1,000");
}

TEST(FormatTest, Times) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(830), "830 ns");
    EXPECT_EQ(time_text(1000), "1.000 us");
    EXPECT_EQ(time_text(12'340), "12.34 us");
    EXPECT_EQ(time_text(123'400), "123.4 us");
    EXPECT_EQ(time_text(2.5e9), "2.500 s");
    EXPECT_EQ(time_text(9.3e18), "9300000000.0 s");
}

TEST(FormatTest, NumbersThatAreNoneAreNotAvailable) {
    EXPECT_EQ(number_text(std::nullopt, 2), "N/A");
    EXPECT_EQ(number_text(std::numeric_limits<double>::infinity(), 2), "N/A");
    EXPECT_EQ(number_text(0.0, 2), "0.00");
}

TEST(FormatTest, NumbersFitTheirColumn) {
    EXPECT_EQ(fitted_text(1162.2, 7), "1162.20");
    EXPECT_EQ(fitted_text(11622.24, 7), "11622.2");
    EXPECT_EQ(fitted_text(1162224.4, 7), "1162224");
    EXPECT_EQ(fitted_text(116222440.0, 7), "1.2e+08");
    EXPECT_EQ(fitted_text(50.53, 6), "50.53");
    EXPECT_EQ(fitted_text(1e12, 6), "1e+12");
}

}  // namespace
}  // namespace gradstorm::report
