// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/memory_budget.h"

#include "engine/memory/available.h"
#include "tests/unit/replay/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using testing::HasSubstr;

TEST(MemoryBudget, CountsTheTimesThatARunKeeps) {
    const workload::Workload two_calls =
        workload_of(4, {call_on_all(4, CollectiveKind::all_reduce, DataType::float32, 4'000),
                        call_on_all(4, CollectiveKind::broadcast, DataType::float32, 4'000)});
    // An iteration and two calls: 3 series; 5 repetitions of each, and begin and end on 4 ranks.
    EXPECT_EQ(bytes_of_times(two_calls, 4, 1'000, 5), 1'000.0 * 8 * 3 * (5 + 2 * 4));
}

TEST(MemoryBudget, NamesWhatIsTooLarge) {
    constexpr Bytes kHost{std::uint64_t{4} << 30U};
    EXPECT_TRUE(check_budget({.buffers = 3e9, .times = 1e9}, kHost));
    EXPECT_TRUE(check_budget({.buffers = 1e30, .times = 0}, std::nullopt));
    const auto buffers = check_budget({.buffers = 1e10, .times = 1e9}, kHost);
    ASSERT_FALSE(buffers);
    EXPECT_THAT(buffers.error().message, HasSubstr("9.3 GiB for the buffers"));
    EXPECT_THAT(buffers.error().message, HasSubstr("this host has 4.0 GiB left; use fewer ranks"));
    const auto times = check_budget({.buffers = 1e9, .times = 1e30}, kHost);
    ASSERT_FALSE(times);
    EXPECT_THAT(times.error().message, HasSubstr("use fewer run.iterations"));
}

TEST(MemoryBudget, AsksTheKernelWhatIsLeft) {
    using memory::available_in;
    EXPECT_EQ(available_in("MemTotal:  100 kB\nMemAvailable:     7 kB\nBuffers: 1 kB\n")->value, 7U * 1024);
    EXPECT_FALSE(available_in("MemTotal:  100 kB\n"));
    EXPECT_FALSE(available_in("MemAvailable:  "));
    const auto here = memory::available_memory();
    ASSERT_TRUE(here);
    EXPECT_GT(here->value, 1U << 20U);
}

}  // namespace
}  // namespace gradstorm::replay
