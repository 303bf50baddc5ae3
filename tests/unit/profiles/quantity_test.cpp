// SPDX-License-Identifier: Apache-2.0
#include "profiles/quantity.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gradstorm::profiles {
namespace {

std::uint64_t value_of(std::string_view text, Dimension dimension) {
    const auto value = parse_quantity(text, dimension);
    EXPECT_TRUE(value) << text << " " << (value ? "" : value.error().message);
    return value.value_or(0);
}

std::string refusal_of(std::string_view text, Dimension dimension) {
    const auto value = parse_quantity(text, dimension);
    return value ? "accepted" : value.error().message;
}

TEST(Quantity, ReadsEveryDimension) {
    EXPECT_EQ(value_of("512KiB", Dimension::size), 524'288U);
    EXPECT_EQ(value_of("1.5GiB", Dimension::size), 1'610'612'736U);
    EXPECT_EQ(value_of("0B", Dimension::size), 0U);
    EXPECT_EQ(value_of("50us", Dimension::duration), 50'000U);
    EXPECT_EQ(value_of("0.1us", Dimension::duration), 100U);
    EXPECT_EQ(value_of("2h", Dimension::duration), 7'200'000'000'000U);
    EXPECT_EQ(value_of("400Gb/s", Dimension::rate), 400'000'000'000U);
    EXPECT_EQ(value_of("12.5GB/s", Dimension::rate), 100'000'000'000U);
    EXPECT_EQ(value_of("40%", Dimension::share), 400'000'000U);
    EXPECT_EQ(value_of("0ppm", Dimension::share), 0U);
    EXPECT_EQ(value_of("0.0000001%", Dimension::share), 1U);
    EXPECT_EQ(value_of("989TFLOP/s", Dimension::compute_rate), 989'000'000'000'000U);
    EXPECT_EQ(value_of("14.88Mpps", Dimension::packet_rate), 14'880'000U);
    EXPECT_EQ(value_of("512 KiB", Dimension::size), 524'288U);
}

TEST(Quantity, ReachesTwoToThe63AndNotBeyond) {
    EXPECT_EQ(value_of("9223372036854775807B", Dimension::size), kLargestQuantity);
    EXPECT_EQ(value_of("8191PiB", Dimension::size), 8191ULL << 50U);
    for (const char* text : {"9223372036854775808B", "8192PiB", "18446744073709551616B", "18446744073709551617B",
                             "99999999999999999999999999999999999999999B", "0.00000000000000000000000000000000001B"}) {
        EXPECT_NE(refusal_of(text, Dimension::size), "accepted") << text;
    }
}

TEST(Quantity, SaysWhatIsWrong) {
    EXPECT_EQ(refusal_of("64", Dimension::size), "is \"64\" without a unit; add B, KiB, MiB, GiB, TiB or PiB");
    EXPECT_EQ(refusal_of("64KB", Dimension::size),
              "is \"64KB\", but 'KB' is no unit of a size; use B, KiB, MiB, GiB, TiB or PiB");
    EXPECT_EQ(refusal_of("", Dimension::duration), "is empty; write a duration such as \"50us\"");
    EXPECT_EQ(refusal_of("-1ms", Dimension::duration), "must not be negative, but is \"-1ms\"");
    EXPECT_EQ(refusal_of("0.3B", Dimension::size), "is \"0.3B\", which is no whole number of bytes");
    for (const char* text : {"KiB", ".5KiB", "1.KiB", "1..5KiB", "1e3B", "+1B", "0x10B", "1 000B", "1KiB ", " 1KiB",
                             "1  KiB", "nan", "inf"}) {
        EXPECT_NE(refusal_of(text, Dimension::size), "accepted") << text;
    }
}

TEST(Quantity, FormatsInTheShortestExactForm) {
    EXPECT_EQ(format_quantity(65'536, Dimension::size), "64KiB");
    EXPECT_EQ(format_quantity(1'500'000, Dimension::duration), "1500us");
    EXPECT_EQ(format_quantity(0, Dimension::duration), "0ns");
    EXPECT_EQ(format_quantity(3'600'000'000'000, Dimension::duration), "1h");
    EXPECT_EQ(format_quantity(10'000'000, Dimension::share), "1%");
    EXPECT_EQ(format_quantity(kLargestQuantity, Dimension::size), "9223372036854775807B");
}

TEST(Quantity, WhatIsFormattedReadsBackTheSame) {
    constexpr std::array kDimensions{Dimension::size,  Dimension::duration,     Dimension::rate,
                                     Dimension::share, Dimension::compute_rate, Dimension::packet_rate};
    std::mt19937_64 random{20'260'101};
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t value = (random() >> 1U) >> (random() % 63);
        for (const Dimension dimension : kDimensions) {
            ASSERT_EQ(value_of(format_quantity(value, dimension), dimension), value);
        }
    }
}

}  // namespace
}  // namespace gradstorm::profiles
