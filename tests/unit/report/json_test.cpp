// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"
#include "storage/report/report.h"
#include "tests/unit/events/sample_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace gradstorm::report {
namespace {

using Json = nlohmann::json;

/// Every null has its reason beside it.
void expect_reasons(const Json& value, const std::string& where) {
    if (value.is_object()) {
        for (const auto& [key, member] : value.items()) {
            if (member.is_null()) {
                EXPECT_TRUE(value.contains(key + "_reason")) << where << '.' << key;
            }
            expect_reasons(member, where + '.' + key);
        }
    } else if (value.is_array()) {
        for (const auto& item : value) expect_reasons(item, where + "[]");
    }
}

TEST(JsonTest, AStrictParserOfAnotherMakeReadsIt) {
    if (std::system("python3 -c 'import json' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
    measure::RunResult odd = test::sample_run();
    odd.self_check.busy_share = std::numeric_limits<double>::quiet_NaN();
    odd.line_rate_bits_per_s = std::numeric_limits<double>::infinity();
    odd.reason = "bad utf-8 \xff and \"quotes\"\n";
    for (const measure::RunResult& run : {test::sample_run(), measure::RunResult{}, odd}) {
        // json.tool takes NaN and Infinity: parse_constant does not.
        FILE* python =
            ::popen("python3 -c 'import json,sys; json.load(sys.stdin, parse_constant=lambda c: sys.exit(3))'", "w");
        ASSERT_NE(python, nullptr);
        const std::string text = json(run);
        ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), python), text.size());
        EXPECT_EQ(::pclose(python), 0) << text;
    }
}

TEST(JsonTest, WhatWasNotMeasuredIsNullWithItsReason) {
    measure::RunResult run = test::sample_run();
    run.line_rate_bits_per_s.reset();
    run.measurements[0].calls[1].completion_ns.clear();
    run.measurements[0].calls[1].wrong_elements.reset();
    run.self_check = {};
    const Json document = Json::parse(json(run));
    expect_reasons(document, "");
    const Json& call = document["measurements"][0]["calls"][1];
    EXPECT_TRUE(call["busbw_gbytes_per_s"].is_null());
    EXPECT_EQ(call["wrong_elements_reason"], "the results were not checked");
    EXPECT_TRUE(document["ports"][0]["ceiling_percent"].is_null());
    EXPECT_TRUE(document["self_check"].is_null());
    EXPECT_TRUE(document["measurements"][0]["calls"][0]["completion"]["p99_ns"].is_null()) << "20 samples carry no p99";
    EXPECT_EQ(document["measurements"][0]["calls"][0]["wrong_elements"], 0);
}

TEST(JsonTest, ValuesAreThoseOfTheRecord) {
    const measure::RunResult run = test::sample_run();
    const Json document = Json::parse(json(run));
    EXPECT_EQ(document["run"]["seed"], std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(document["run"]["outcome"], "pass");
    EXPECT_EQ(document["run"]["exit_code"], 0);
    EXPECT_EQ(document["dut"]["switch"], "leaf-1");
    const Json& call = document["measurements"][0]["calls"][0];
    EXPECT_EQ(call["completion"]["samples"], 20);
    EXPECT_EQ(call["completion"]["min_ns"], 1'000'000);
    EXPECT_DOUBLE_EQ(call["busbw_gbytes_per_s"],
                     *measure::bus_gbytes_per_s(measure::CollectiveKind::all_reduce, 2, 8'196'000,
                                                call["completion"]["median_ns"].get<double>()));
    EXPECT_EQ(call["completion"]["by_repetition_ns"][1][0], 1'000'007);
    EXPECT_EQ(document["ranks"][1]["max_lateness_ns"], 9'000);
    // 793,966,720 bytes in 110 ms of 100 Gb/s x 98.037 %
    EXPECT_NEAR(document["ports"][0]["ceiling_percent"], 100 * 793'966'720.0 * 8 / 0.11 / (100e9 * 4096 / 4178), 1e-6);
}

}  // namespace
}  // namespace gradstorm::report
