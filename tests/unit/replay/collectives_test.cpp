// SPDX-License-Identifier: Apache-2.0
//
// Whole runs in virtual time: every collective ends with the right data in every rank's memory.
#include "tests/unit/replay/workloads.h"

#include <gtest/gtest.h>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using measure::Outcome;

TEST(AllReduce, TwoRanksEndWithTheSum) {
    const auto workload = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 1'000'004)});
    const SessionReport report = run_virtually(workload, quick_options());
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    ASSERT_EQ(report.measurements.size(), 1U);
    const measure::CallResult& call = report.measurements[0].calls[0];
    ASSERT_TRUE(call.wrong_elements.has_value());
    EXPECT_EQ(*call.wrong_elements, 0U);
    ASSERT_EQ(call.completion_ns.size(), 1U);
    EXPECT_EQ(call.completion_ns[0].size(), 2U);
    EXPECT_GT(call.completion_ns[0][0], 0);
}

}  // namespace
}  // namespace gradstorm::replay
