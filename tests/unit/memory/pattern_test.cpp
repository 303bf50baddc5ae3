// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/pattern.h"

#include "engine/memory/sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace gradstorm::memory {
namespace {

using measure::DataType;

constexpr DataType kSummable[] = {DataType::uint8,    DataType::int32,   DataType::int64,
                                  DataType::bfloat16, DataType::float32, DataType::float64};

class SumPattern : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SumPattern, IsTheSumOfTheSummandsInAnyOrder) {
    const std::uint32_t ranks = GetParam();
    for (const DataType type : kSummable) {
        const Pattern expected = sum_pattern(type, 42, ranks);
        std::vector<std::uint32_t> order(ranks);
        std::iota(order.begin(), order.end(), 0U);
        std::mt19937 random(ranks);
        std::shuffle(order.begin(), order.end(), random);
        Pattern total = summand_pattern(type, 42, order[0], ranks);
        for (std::uint32_t i = 1; i < ranks; ++i) {
            const Pattern next = summand_pattern(type, 42, order[i], ranks);
            sum(type, total.data(), total.data(), next.data(), total.size());
        }
        EXPECT_EQ(total, expected) << measure::size_of(type) << " bytes, " << ranks << " ranks";
    }
}
INSTANTIATE_TEST_SUITE_P(Ranks, SumPattern, testing::Values(2, 3, 9, 64, 255, 256, 300));

TEST(SumPattern, NoSumExceedsWhatBfloat16HoldsExactly) {
    for (const std::uint32_t ranks : {2U, 9U, 128U, 1000U, 5000U}) {
        const Pattern pattern = sum_pattern(DataType::float32, 3, ranks);
        double largest = 0;
        for (std::size_t i = 0; i < pattern.size(); i += 4) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, pattern.data() + i, 4);
            largest = std::max(largest, as_number(DataType::float32, bits));
        }
        EXPECT_LE(largest, 255.0) << ranks;
        EXPECT_GT(largest, 0.0) << ranks;
    }
}

TEST(SummandPattern, RanksAndSeedsDiffer) {
    EXPECT_NE(summand_pattern(DataType::float32, 1, 0, 8), summand_pattern(DataType::float32, 1, 1, 8));
    EXPECT_NE(summand_pattern(DataType::float32, 1, 0, 8), summand_pattern(DataType::float32, 2, 0, 8));
    EXPECT_NE(byte_pattern(DataType::float32, 1, 0), byte_pattern(DataType::float32, 1, 1));
}

TEST(Fill, AnyPhaseAndLengthVerifies) {
    const Pattern pattern = summand_pattern(DataType::bfloat16, 5, 1, 2);
    for (const std::uint64_t phase : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{8184}, std::uint64_t{100000}}) {
        std::vector<std::byte> buffer(30000);
        fill_pattern(buffer, pattern, phase);
        EXPECT_EQ(compare(buffer, pattern, phase, 2).wrong_elements, 0U);
        EXPECT_NE(compare(buffer, pattern, phase + 2, 2).wrong_elements, 0U);
    }
}

TEST(Compare, FindsASingleFlippedBit) {
    const Pattern pattern = summand_pattern(DataType::float32, 5, 0, 2);
    std::vector<std::byte> buffer(100000);
    fill_pattern(buffer, pattern, 0);
    buffer[77777] ^= std::byte{0x10};
    const Mismatch found = compare(buffer, pattern, 0, 4);
    EXPECT_EQ(found.wrong_elements, 1U);
    EXPECT_EQ(found.first_offset, 77776U);
    EXPECT_EQ(found.expected ^ found.got, 0x1000U);
}

TEST(Poison, EqualsNoElementOfAPattern) {
    const Pattern poison = poison_pattern();
    std::vector<std::byte> buffer(kPatternElements * 8);
    fill_pattern(buffer, poison, 0);
    for (const DataType type : kSummable) {
        const std::uint32_t element = measure::size_of(type);
        const auto all = kPatternElements;
        const std::span<const std::byte> part{buffer.data(), all * element};
        EXPECT_EQ(compare(part, byte_pattern(type, 1, 0), 0, element).wrong_elements, all);
        if (type == DataType::uint8) continue;  // 255 is a legal sum of bytes
        EXPECT_EQ(compare(part, sum_pattern(type, 1, 2), 0, element).wrong_elements, all);
    }
}

TEST(AsNumber, ReadsEveryType) {
    EXPECT_EQ(as_number(DataType::float16, 0x3C00), 1.0);
    EXPECT_EQ(as_number(DataType::float16, 0xC000), -2.0);
    EXPECT_EQ(as_number(DataType::bfloat16, 0x4040), 3.0);
    EXPECT_EQ(as_number(DataType::int32, 0xFFFF'FFFF), -1.0);
    EXPECT_TRUE(std::isnan(as_number(DataType::float32, 0xFFFF'FFFF)));
    EXPECT_TRUE(std::isnan(as_number(DataType::float16, 0xFFFF)));
}

}  // namespace
}  // namespace gradstorm::memory
