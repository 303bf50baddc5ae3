// SPDX-License-Identifier: Apache-2.0
// Each format of a known run, character for character. GRADSTORM_UPDATE_GOLDEN=1 writes the files anew: read the diff.
#include "storage/report/report.h"
#include "tests/unit/events/sample_run.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <locale>
#include <string>

namespace gradstorm::report {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string{GRADSTORM_TEST_DATA} + "/report/" + name;
    if (std::getenv("GRADSTORM_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
    std::ifstream in(path, std::ios::binary);
    const std::string expected{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(text, expected) << "differs from " << path;
}

/// What is known of a run that was cut short right after it had begun its first measurement.
measure::RunResult cut_short() {
    measure::RunResult run = test::sample_run();
    for (auto& call : run.measurements[0].calls) {
        call.completion_ns.clear();
        call.wrong_elements.reset();
        call.ideal_ns = 0;
        call.ideal_bound.clear();
    }
    run.measurements[0].iteration_ns.clear();
    run.measurements[0].message_latency = {};
    run.line_rate_bits_per_s.reset();
    run.ports.clear();
    run.rank_results.clear();
    run.self_check = {};
    run.events = {{2'000'000'000, "stall", "rank 1 waits for rank 0, channel 0, step 3"}};
    run.outcome = measure::Outcome::error;
    run.reason = "peer lost";
    return run;
}

TEST(GoldenTest, NativeTable) { expect_golden("native.txt", native_table(test::sample_run())); }
TEST(GoldenTest, NativeTableOfARunCutShort) { expect_golden("native_cut_short.txt", native_table(cut_short())); }
TEST(GoldenTest, NcclTestsTable) { expect_golden("nccl_tests.txt", nccl_tests_table(test::sample_run())); }
TEST(GoldenTest, NcclTestsTableOfARunCutShort) {
    expect_golden("nccl_tests_cut_short.txt", nccl_tests_table(cut_short()));
}
TEST(GoldenTest, Json) { expect_golden("run.json", json(test::sample_run())); }
TEST(GoldenTest, JsonOfARunCutShort) { expect_golden("run_cut_short.json", json(cut_short())); }

TEST(GoldenTest, RunList) {
    const RunListRow rows[] = {
        {12, "6f1c1a52-9d0e-4a63", "2026-03-01T12:00:00Z", "resnet50-ddp", 2, "dpdk, embedded fabric",
         measure::Outcome::pass, ""},
        {11, "71aa0c00-9d0e-4a63", "2026-03-01T11:59:00Z", "sweep", 8, "dpdk, embedded fabric",
         measure::Outcome::interrupted, "the run's process ended without a result"},
        {10, "80000000-9d0e-4a63", "2026-03-01T11:00:00Z", "", 0, "", measure::Outcome::running, ""},
    };
    expect_golden("run_list.txt", run_list_table(rows));
    EXPECT_EQ(run_list_table({}), "no runs\n");
    EXPECT_EQ(run_list_json({}), "[]\n");
    EXPECT_NE(run_list_json(rows).find("\"outcome\": \"interrupted\""), std::string::npos);
}

TEST(GoldenTest, NoLocaleChangesANumber) {
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
    expect_golden("native.txt", native_table(test::sample_run()));
    expect_golden("nccl_tests.txt", nccl_tests_table(test::sample_run()));
    expect_golden("run.json", json(test::sample_run()));
    std::locale::global(before);
}

// An empty record, and one with the largest numbers there are, in every format.
TEST(GoldenTest, NothingAndTheLargestNumbersAreNeitherNegativeNorInfinite) {
    measure::RunResult largest = test::sample_run();
    for (auto& port : largest.ports) {
        port.payload_bytes = port.wire_bytes = (std::uint64_t{1} << 63U) - 1;
        port.communicating_ns = std::int64_t{30} * 86'400'000'000'000;
    }
    largest.measurements[0].calls[0].bytes = (std::uint64_t{1} << 63U) - 1;
    for (const measure::RunResult& run : {measure::RunResult{}, largest}) {
        for (const std::string& text : {native_table(run), nccl_tests_table(run), json(run)}) {
            EXPECT_EQ(text.find("nan"), std::string::npos) << text;
            EXPECT_EQ(text.find("inf,"), std::string::npos) << text;
            EXPECT_EQ(text.find(" -9"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace gradstorm::report
