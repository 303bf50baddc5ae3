// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/sum.h"

#include "engine/memory/floating.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace gradstorm::memory {
namespace {

TEST(Bfloat16, RoundsToNearestTiesToEven) {
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F80'7FFFU)), 0x3F80);  // just below the tie
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F80'8000U)), 0x3F80);  // tie: even below
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F81'8000U)), 0x3F82);  // tie: even above
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F80'8001U)), 0x3F81);  // just above the tie
    EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7F80);   // overflows to infinity
    EXPECT_EQ(to_bfloat16(-0.0F), 0x8000);
    EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7F80'0001U)))));
}

TEST(Bfloat16, EveryFiniteValueSurvivesTheRoundTrip) {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const auto value = static_cast<std::uint16_t>(bits);
        if (std::isnan(from_bfloat16(value))) continue;
        ASSERT_EQ(to_bfloat16(from_bfloat16(value)), value);
    }
}

TEST(Float16, SmallIntegersAreExact) {
    EXPECT_EQ(small_integer_to_float16(0), 0x0000);
    EXPECT_EQ(small_integer_to_float16(1), 0x3C00);
    EXPECT_EQ(small_integer_to_float16(2), 0x4000);
    EXPECT_EQ(small_integer_to_float16(3), 0x4200);
    EXPECT_EQ(small_integer_to_float16(255), 0x5BF8);
    EXPECT_EQ(small_integer_to_float16(2048), 0x6800);
}

TEST(Sum, Float32MatchesScalarAdditionAtEveryLengthAndAlignment) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> values(-1e6F, 1e6F);
    for (const std::size_t count : {0U, 1U, 3U, 255U, 256U, 257U, 1000U}) {
        for (const std::size_t shift : {0U, 1U, 2U}) {
            std::vector<std::byte> a(count * 4 + shift);
            std::vector<std::byte> b(count * 4 + shift);
            std::vector<float> expected(count);
            for (std::size_t i = 0; i < count; ++i) {
                const float x = values(random);
                const float y = values(random);
                expected[i] = x + y;
                std::memcpy(a.data() + shift + i * 4, &x, 4);
                std::memcpy(b.data() + shift + i * 4, &y, 4);
            }
            sum(measure::DataType::float32, a.data() + shift, a.data() + shift, b.data() + shift, count * 4);
            if (count != 0) {
                ASSERT_EQ(std::memcmp(a.data() + shift, expected.data(), count * 4), 0) << count;
            }
        }
    }
}

TEST(Sum, Bfloat16RoundsTheSumOfTwoExactValues) {
    std::mt19937 random(9);
    std::vector<std::uint16_t> a(513);
    std::vector<std::uint16_t> b(513);
    std::vector<std::uint16_t> to(513);
    for (auto* v : {&a, &b}) {
        for (auto& x : *v) x = static_cast<std::uint16_t>(random() & 0xBFFFU);  // no NaN, no infinity
    }
    sum(measure::DataType::bfloat16, reinterpret_cast<std::byte*>(to.data()),
        reinterpret_cast<const std::byte*>(a.data()), reinterpret_cast<const std::byte*>(b.data()), a.size() * 2);
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(to[i], to_bfloat16(from_bfloat16(a[i]) + from_bfloat16(b[i])));
    }
}

TEST(Sum, IntegersWrap) {
    const std::int32_t a = std::numeric_limits<std::int32_t>::max();
    const std::int32_t one = 1;
    std::int32_t to = 0;
    sum(measure::DataType::int32, reinterpret_cast<std::byte*>(&to), reinterpret_cast<const std::byte*>(&a),
        reinterpret_cast<const std::byte*>(&one), 4);
    EXPECT_EQ(to, std::numeric_limits<std::int32_t>::min());
}

}  // namespace
}  // namespace gradstorm::memory
