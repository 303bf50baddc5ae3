// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/crc32.h"

#include "engine/wire/crc32_methods.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace gradstorm::wire {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

std::uint32_t zlib_crc(std::span<const std::byte> data) {
    return static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
}

TEST(Crc32, CheckValueOfTheCatalogue) {
    constexpr std::string_view kText = "123456789";
    EXPECT_EQ(~crc32_update(kCrc32Start, std::as_bytes(std::span{kText})), 0xCBF4'3926U);
}

TEST(Crc32, EveryMethodEqualsZlibAtEveryLengthAndAlignment) {
    const auto data = random_bytes(5200, 1);
    for (std::size_t size = 0; size <= 5000; ++size) {
        const auto part = std::span{data}.subspan(size * 7 % 97, size);
        const auto expected = zlib_crc(part);
        for (const auto method : crc32_methods()) {
            ASSERT_EQ(~crc32_update_with(method, kCrc32Start, part), expected) << to_string(method) << ' ' << size;
        }
        ASSERT_EQ(~crc32_update(kCrc32Start, part), expected) << size;
    }
    for (std::size_t alignment = 0; alignment < 64; ++alignment) {
        for (const std::size_t size : {15U, 33U, 130U, 255U, 513U, 1100U, 4170U}) {
            const auto part = std::span{data}.subspan(alignment, size);
            for (const auto method : crc32_methods()) {
                ASSERT_EQ(~crc32_update_with(method, kCrc32Start, part), zlib_crc(part))
                    << to_string(method) << ' ' << alignment << ' ' << size;
            }
        }
    }
}

TEST(Crc32, PiecesGiveWhatTheWholeGives) {
    const auto data = random_bytes(4096, 2);
    std::mt19937_64 random{3};
    for (const auto method : crc32_methods()) {
        for (int round = 0; round < 200; ++round) {
            std::uint32_t state = kCrc32Start;
            auto rest = std::span<const std::byte>{data};
            while (!rest.empty()) {
                const std::size_t size = std::min<std::size_t>(rest.size(), random() % 1500);
                state = crc32_update_with(method, state, rest.first(size));
                rest = rest.subspan(size);
            }
            ASSERT_EQ(~state, zlib_crc(data)) << to_string(method) << " round " << round;
        }
    }
}

TEST(Crc32, ShiftIsThatManyZeroBytes) {
    const std::vector<std::byte> zeros(5000);
    for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 60U, 255U, 256U, 1024U, 4096U, 5000U}) {
        const auto expected = crc32_update(0x1234'5678, std::span{zeros}.first(count));
        EXPECT_EQ(crc32_shift(0x1234'5678, count), expected) << count;
        EXPECT_EQ(Crc32Shift{count}(0x1234'5678), expected) << count;
    }
    // The order of x is 2^32 - 1: that many bits change nothing.
    EXPECT_EQ(crc32_shift(0xCAFE'BABE, 0xFFFF'FFFFU), 0xCAFE'BABE);
    EXPECT_EQ(crc32_shift(crc32_shift(7, 1ULL << 40U), 12345), crc32_shift(7, (1ULL << 40U) + 12345));
}

TEST(Crc32, StateOfTwoPartsIsShiftAndContribution) {
    const auto data = random_bytes(4170, 4);
    for (const std::size_t head : {0U, 1U, 54U, 70U, 4170U}) {
        const auto all = std::span<const std::byte>{data};
        const auto first = crc32_update(kCrc32Start, all.first(head));
        EXPECT_EQ(crc32_shift(first, data.size() - head) ^ crc32_update(0, all.subspan(head)),
                  crc32_update(kCrc32Start, all));
    }
}

TEST(Crc32, DeltaTablesFollowChangedBytes) {
    auto data = random_bytes(4166, 5);
    auto state = crc32_update(kCrc32Start, data);
    std::mt19937_64 random{6};
    for (int round = 0; round < 500; ++round) {
        const std::size_t position = random() % data.size();
        const std::uint64_t distance = data.size() - 1 - position;
        const auto value = static_cast<std::byte>(random());
        const auto change = value ^ data[position];
        state ^= ByteDeltaTable{distance}[change];
        EXPECT_EQ(ByteDeltaTable{distance}[change],
                  crc32_byte_contribution(std::to_integer<std::uint8_t>(change), distance));
        data[position] = value;
        ASSERT_EQ(state, crc32_update(kCrc32Start, data)) << position;
    }
}

TEST(Crc32, ArithmeticOfThePolynomial) {
    using namespace crc32_detail;
    EXPECT_EQ(power_of_x(32), kPolynomial);
    EXPECT_EQ(multiply(power_of_x(100), power_of_x(300)), power_of_x(400));
}

}  // namespace
}  // namespace gradstorm::wire
