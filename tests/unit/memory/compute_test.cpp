// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/host_buffer.h"
#include "engine/memory/host_compute.h"
#include "engine/memory/null_compute.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace gradstorm::memory {
namespace {

using measure::DataType;

TEST(HostCompute, ALongJobTakesOnePollForEachQuantum) {
    auto buffer = HostBuffer::allocate(Bytes{5 * HostCompute::kQuantum}).value();
    const Pattern pattern = byte_pattern(DataType::uint8, 1, 0);
    HostCompute compute;
    ASSERT_TRUE(compute.submit({.id = 9,
                                .kind = ComputeKind::fill,
                                .type = DataType::uint8,
                                .to = buffer.address(),
                                .length = buffer.size(),
                                .pattern = &pattern}));
    std::array<ComputeCompletion, 4> done;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(compute.poll(done), 0U);
    ASSERT_EQ(compute.poll(done), 1U);
    EXPECT_EQ(done[0].id, 9U);
    EXPECT_FALSE(compute.busy());
    EXPECT_EQ(compare(buffer.bytes(), pattern, 0, 1).wrong_elements, 0U);
}

/// A job that leaves an odd rest of the quantum must not cut an element of the next one in two.
TEST(HostCompute, JobsOfSeveralTypesKeepTheirElementsWhole) {
    constexpr std::uint64_t kShort = 1'002;
    constexpr std::uint64_t kLong = 2 * HostCompute::kQuantum;
    auto buffer = HostBuffer::allocate(Bytes{3 * kLong}).value();
    const std::uint64_t a = buffer.address();
    const std::uint64_t b = a + kLong;
    const std::uint64_t c = b + kLong;
    const Pattern zero = summand_pattern(DataType::float32, 1, 0, 2);
    const Pattern one = summand_pattern(DataType::float32, 1, 1, 2);
    const Pattern expected = sum_pattern(DataType::float32, 1, 2);
    fill_pattern(buffer.bytes().subspan(0, kLong), zero, 0);
    fill_pattern(buffer.bytes().subspan(kLong, kLong), one, 0);
    HostCompute compute;
    ASSERT_TRUE(compute.submit(
        {.id = 1, .kind = ComputeKind::sum, .type = DataType::bfloat16, .to = c, .a = c, .b = c, .length = kShort}));
    ASSERT_TRUE(compute.submit(
        {.id = 2, .kind = ComputeKind::sum, .type = DataType::float32, .to = c, .a = a, .b = b, .length = kLong}));
    ASSERT_TRUE(compute.submit({.id = 3,
                                .kind = ComputeKind::verify,
                                .type = DataType::float32,
                                .a = c,
                                .length = kLong,
                                .pattern = &expected}));
    std::array<ComputeCompletion, 4> done;
    for (std::size_t completed = 0; completed < 3;) {
        const std::size_t count = compute.poll(done);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(done[i].mismatch.wrong_elements, 0U);
        completed += count;
    }
}

TEST(HostCompute, JobsCompleteInOrderAndSeeEachOther) {
    constexpr std::uint64_t kLength = 200'000;
    auto buffer = HostBuffer::allocate(Bytes{3 * kLength}).value();
    const std::uint64_t a = buffer.address();
    const std::uint64_t b = a + kLength;
    const std::uint64_t c = b + kLength;
    const Pattern zero = summand_pattern(DataType::float32, 1, 0, 2);
    const Pattern one = summand_pattern(DataType::float32, 1, 1, 2);
    const Pattern expected = sum_pattern(DataType::float32, 1, 2);
    HostCompute compute;
    const auto fill_job = [&](std::uint64_t id, std::uint64_t to, const Pattern& pattern) {
        return ComputeJob{.id = id, .kind = ComputeKind::fill, .to = to, .length = kLength, .pattern = &pattern};
    };
    ASSERT_TRUE(compute.submit(fill_job(1, a, zero)));
    ASSERT_TRUE(compute.submit(fill_job(2, b, one)));
    ASSERT_TRUE(compute.submit({.id = 3, .kind = ComputeKind::sum, .to = c, .a = a, .b = b, .length = kLength}));
    ASSERT_TRUE(compute.submit({.id = 4, .kind = ComputeKind::copy, .to = a, .a = c, .length = kLength}));
    ASSERT_TRUE(
        compute.submit({.id = 5, .kind = ComputeKind::verify, .a = a, .length = kLength, .pattern = &expected}));
    std::uint64_t next = 1;
    std::array<ComputeCompletion, 1> done;
    while (compute.busy()) {
        if (compute.poll(done) == 0) continue;
        EXPECT_EQ(done[0].id, next++);
        EXPECT_EQ(done[0].mismatch.wrong_elements, 0U);
    }
    EXPECT_EQ(next, 6U);
}

TEST(HostCompute, CountsWrongElementsAcrossQuanta) {
    auto buffer = HostBuffer::allocate(Bytes{4 * HostCompute::kQuantum}).value();
    const Pattern pattern = summand_pattern(DataType::float32, 1, 0, 2);
    fill_pattern(buffer.bytes(), pattern, 0);
    const std::size_t first = HostCompute::kQuantum + 400;
    buffer.data()[first] ^= std::byte{1};
    buffer.data()[3 * HostCompute::kQuantum + 1] ^= std::byte{1};
    HostCompute compute;
    ASSERT_TRUE(compute.submit(
        {.kind = ComputeKind::verify, .a = buffer.address(), .length = buffer.size(), .pattern = &pattern}));
    std::array<ComputeCompletion, 1> done;
    while (compute.poll(done) == 0) {
    }
    EXPECT_EQ(done[0].mismatch.wrong_elements, 2U);
    EXPECT_EQ(done[0].mismatch.first_offset, first);
}

TEST(HostCompute, AFullQueueRefuses) {
    HostCompute compute(2);
    EXPECT_TRUE(compute.submit({}));
    EXPECT_TRUE(compute.submit({}));
    EXPECT_FALSE(compute.submit({}));
}

TEST(NullCompute, CompletesAtOnceAndTouchesNothing) {
    NullCompute compute;
    ASSERT_TRUE(compute.submit({.id = 1, .kind = ComputeKind::sum, .to = 8, .a = 16, .b = 24, .length = 1U << 30U}));
    std::array<ComputeCompletion, 2> done;
    EXPECT_EQ(compute.poll(done), 1U);
    EXPECT_EQ(done[0].id, 1U);
}

TEST(HostBuffer, TooMuchIsALineForPeople) {
    const auto buffer = HostBuffer::allocate(Bytes{std::uint64_t{1} << 60U});
    ASSERT_FALSE(buffer.has_value());
    EXPECT_EQ(buffer.error().code, ErrorCode::device);
    EXPECT_NE(buffer.error().message.find("cannot get 1152921504606846976 bytes of host memory"), std::string::npos);
}

}  // namespace
}  // namespace gradstorm::memory
