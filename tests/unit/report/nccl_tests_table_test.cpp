// SPDX-License-Identifier: Apache-2.0
// The rules that scripts for nccl-tests rely on, each as the script applies it.
#include "engine/measure/bandwidth.h"
#include "engine/measure/summary.h"
#include "storage/report/report.h"
#include "tests/unit/events/sample_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace gradstorm::report {
namespace {

using measure::CollectiveKind;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<std::string> tokens_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& line : lines_of(text))
        if (line.empty() || line[0] != '#') rows.push_back(tokens_of(line));
    return rows;
}

std::string line_with(const std::string& text, const std::string& part) {
    std::string found;
    int count = 0;
    for (const auto& line : lines_of(text))
        if (line.find(part) != std::string::npos) {
            found = line;
            ++count;
        }
    EXPECT_EQ(count, 1) << part;
    return found;
}

/// One measurement a size, 8 B to 64 MiB, as a sweep makes them.
measure::RunResult sweep(CollectiveKind kind, std::uint32_t ranks) {
    measure::RunResult run = test::sample_run();
    run.measurements.clear();
    for (std::uint64_t bytes = 8; bytes <= 64U << 20U; bytes *= 2) {
        measure::MeasurementResult measurement;
        measurement.calls = {test::sample_call("sweep", bytes, 1'000 + static_cast<std::int64_t>(bytes) / 10)};
        measurement.calls[0].kind = kind;
        measurement.calls[0].ranks = ranks;
        run.measurements.push_back(measurement);
    }
    return run;
}

TEST(NcclTestsTableTest, EveryRowHasThirteenTokensAndBeginsWithAnInteger) {
    for (const auto& run : {sweep(CollectiveKind::all_reduce, 8), test::sample_run()}) {
        const auto rows = rows_of(nccl_tests_table(run));
        EXPECT_GE(rows.size(), 2U);
        for (const auto& row : rows) {
            EXPECT_EQ(row.size(), 13U);
            EXPECT_THAT(row[0], testing::MatchesRegex("[0-9]+"));
        }
    }
}

TEST(NcclTestsTableTest, HeaderWordsComeInOrderTwice) {
    EXPECT_THAT(tokens_of(line_with(nccl_tests_table(test::sample_run()), "redop")),
                testing::ElementsAre("#", "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
                                     "time", "algbw", "busbw", "#wrong"));
}

TEST(NcclTestsTableTest, ColumnsLineUp) {
    const std::string text = nccl_tests_table(sweep(CollectiveKind::all_reduce, 8));
    const std::size_t width = line_with(text, "redop").size();
    for (const auto& line : lines_of(text))
        if (line[0] != '#') {
            EXPECT_EQ(line.size(), width) << line;
        }
}

TEST(NcclTestsTableTest, TrailerIsWhatScriptsCutOut) {
    const std::string text = nccl_tests_table(sweep(CollectiveKind::all_reduce, 8));
    const std::string average = line_with(text, "andwidth");  // the word is in no earlier line
    const auto tokens = tokens_of(average);
    ASSERT_EQ(tokens.size(), 6U) << "token 5 is the last one";
    EXPECT_THAT(tokens[5], testing::MatchesRegex("[0-9]+[.]?[0-9]*"));
    EXPECT_THAT(average, testing::ContainsRegex("^# Avg bus bandwidth +: +[0-9.]+"));
    EXPECT_EQ(line_with(text, "Out of bounds values"), "# Out of bounds values : 0 OK");
    EXPECT_EQ(text.find("FAILED"), std::string::npos);
    EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(NcclTestsTableTest, NamesThatUsersChoseCannotMisleadScripts) {
    measure::RunResult run = sweep(CollectiveKind::all_reduce, 8);
    run.profile_name = "bandwidth-sweep FAILED.toml";
    for (auto& [key, value] : run.environment)
        if (key == "host") value = "bandwidth-lab";
    for (auto& port : run.ports) port.name = "FAILED bandwidth";
    const std::string text = nccl_tests_table(run);
    EXPECT_THAT(line_with(text, "bandwidth"), testing::StartsWith("# Avg bus bandwidth"));
    EXPECT_EQ(text.find("FAILED"), std::string::npos);
}

TEST(NcclTestsTableTest, AverageIsNeverAnExponent) {
    measure::RunResult run = sweep(CollectiveKind::all_reduce, 8);
    for (auto& m : run.measurements) m.calls[0].completion_ns = {{3'000'000'000'000'000}};
    EXPECT_THAT(tokens_of(line_with(nccl_tests_table(run), "Avg bus"))[5], testing::MatchesRegex("[0-9.]+"));
}

TEST(NcclTestsTableTest, WrongElementsFailTheRun) {
    measure::RunResult run = sweep(CollectiveKind::all_reduce, 8);
    run.measurements[3].calls[0].wrong_elements = 12;
    run.measurements[4].calls[0].wrong_elements = std::nullopt;
    const std::string text = nccl_tests_table(run);
    EXPECT_EQ(line_with(text, "Out of bounds values"), "# Out of bounds values : 1 FAILED");
    EXPECT_EQ(rows_of(text)[3][8], "12");
    EXPECT_EQ(rows_of(text)[4][8], "N/A") << "not checked is not 0";
    EXPECT_EQ(rows_of(text)[3][12], "N/A") << "there is no in-place buffer to check";
}

TEST(NcclTestsTableTest, ItSaysThatItIsSyntheticBeforeTheHeader) {
    const std::string text = nccl_tests_table(test::sample_run());
    const std::size_t header = text.find(line_with(text, "out-of-place"));  // no note may look like the header
    EXPECT_LT(text.find("# synthetic:"), header);
    EXPECT_LT(text.find("# the second half of each row repeats the first"), header);
    EXPECT_EQ(text.find("NVIDIA"), std::string::npos) << "no GPU name is made up";
    EXPECT_THAT(text, testing::ContainsRegex("#  Rank  1 .* on +lab-7 device  1 "));
}

TEST(NcclTestsTableTest, SizeCountReductionAndRootFollowTheCollective) {
    const struct {
        CollectiveKind kind;
        const char* count;
        const char* reduction;
        const char* root;
    } rows[] = {{CollectiveKind::all_reduce, "1024", "sum", "-1"}, {CollectiveKind::reduce_scatter, "128", "sum", "-1"},
                {CollectiveKind::all_gather, "128", "none", "-1"}, {CollectiveKind::all_to_all, "128", "none", "-1"},
                {CollectiveKind::broadcast, "1024", "none", "3"},  {CollectiveKind::send_receive, "1024", "sum", "-1"}};
    for (const auto& expected : rows) {
        measure::RunResult run = test::sample_run();
        auto& call = run.measurements[0].calls[0];
        call.kind = expected.kind;
        call.ranks = 8;
        call.root = 3;
        call.bytes = 4096;
        call.type = measure::DataType::float32;
        const auto row = rows_of(nccl_tests_table(run))[0];
        EXPECT_EQ(row[0], "4096");
        EXPECT_EQ(row[1], expected.count);
        EXPECT_EQ(row[2], "float");
        EXPECT_EQ(row[3], expected.reduction);
        EXPECT_EQ(row[4], expected.root);
    }
}

// Both formats of the same run give the same numbers, for every collective and 1..64 ranks.
TEST(NcclTestsTableTest, BandwidthsFollowTheFormulasInTextAndJson) {
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
          CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
        for (std::uint32_t ranks = 1; ranks <= 64; ++ranks) {
            measure::RunResult run = test::sample_run();
            run.measurements[0].calls.resize(1);
            auto& call = run.measurements[0].calls[0];
            call.kind = kind;
            call.ranks = ranks;
            call.bytes = 1U << 26U;
            call.completion_ns = {{1'000'000, 1'100'000, 1'300'000}};
            const double mean = 3'400'000.0 / 3;
            const double algbw = (1U << 26U) / mean;
            const double busbw = algbw * measure::bus_bandwidth_factor(kind, ranks);
            const auto row = rows_of(nccl_tests_table(run))[0];
            EXPECT_NEAR(std::stod(row[6]), algbw, 0.0051);
            EXPECT_NEAR(std::stod(row[7]), busbw, 0.0051) << to_string(kind) << ' ' << ranks;
            const auto document = nlohmann::json::parse(json(run));
            EXPECT_NEAR(document["measurements"][0]["calls"][0]["busbw_of_mean_gbytes_per_s"], busbw, 1e-9);
            if (ranks == 1 && measure::bus_bandwidth_factor(kind, 1) == 0) {
                EXPECT_EQ(row[7], "0.00");
            }
        }
    }
}

TEST(NcclTestsTableTest, ARunThatMeasuredNothingShowsNoNumber) {
    measure::RunResult run = test::sample_run();
    for (auto& call : run.measurements[0].calls) {
        call.completion_ns.clear();
        call.wrong_elements.reset();
    }
    const std::string text = nccl_tests_table(run);
    for (const auto& row : rows_of(text)) {
        EXPECT_EQ(row.size(), 13U);
        EXPECT_EQ(row[7], "N/A");
    }
    EXPECT_EQ(tokens_of(line_with(text, "Avg bus"))[5], "N/A");
}

}  // namespace
}  // namespace gradstorm::report
