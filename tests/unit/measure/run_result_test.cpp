// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/run_result.h"

#include "engine/measure/port_counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace gradstorm::measure {
namespace {

TEST(RunResultTest, OutcomesHaveNamesAndExitCodes) {
    const struct {
        Outcome outcome;
        std::string_view name;
        int code;
    } rows[] = {{Outcome::running, "running", 2},
                {Outcome::pass, "pass", 0},
                {Outcome::fail, "fail", 1},
                {Outcome::invalid, "invalid", 2},
                {Outcome::interrupted, "interrupted", 2},
                {Outcome::not_measured, "not_measured", 2},
                {Outcome::error, "error", 3}};
    for (const auto& row : rows) {
        EXPECT_EQ(to_string(row.outcome), row.name);
        EXPECT_EQ(parse_outcome(row.name), row.outcome);
        EXPECT_EQ(exit_code(row.outcome), row.code) << row.name;
    }
    EXPECT_EQ(parse_outcome("passed"), std::nullopt);
    EXPECT_EQ(Outcome::running, RunResult{}.outcome) << "a run that said nothing cannot pass";
}

TEST(RunResultTest, PortCountersNameEveryCounterOnce) {
    std::set<std::string_view> names;
    PortResult port;
    std::uint64_t next = 1;
    for (const PortCounter& counter : kPortCounters) {
        EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
        EXPECT_EQ(port.*counter.value, 0U) << counter.name << " shares a member";
        port.*counter.value = next++;
    }
}

}  // namespace
}  // namespace gradstorm::measure
