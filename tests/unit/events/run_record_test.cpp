// SPDX-License-Identifier: Apache-2.0
#include "engine/events/run_record.h"

#include "tests/unit/events/sample_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace gradstorm::events {
namespace {

namespace fs = std::filesystem;

class RunRecordTest : public testing::Test {
protected:
    RunRecordTest() {
        std::string name = (fs::temp_directory_path() / "gradstorm-record-XXXXXX").string();
        dir_ = ::mkdtemp(name.data());
    }
    ~RunRecordTest() override { fs::remove_all(dir_); }

    /// Writes the result to a journal of that name and returns the journal's bytes.
    std::string write(const char* name, const measure::RunResult& run) {
        auto journal = JournalWriter::create(dir_ / name);
        EXPECT_TRUE(journal);
        const auto done = append_result(*journal, Instant{Nanoseconds{9'000'000}}, run);
        EXPECT_TRUE(done) << done.error().message;
        std::ifstream in(dir_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    void assemble(const char* name, RunAssembler& assembler) {
        const auto check = [](const Result<void>& added) { EXPECT_TRUE(added) << added.error().message; };
        ASSERT_TRUE(read_journal(
            dir_ / name, 0, [&](const Event& e) { check(assembler.add(e)); },
            [&](const Chunk& c) { check(assembler.add(c)); }));
    }

    fs::path dir_;
};

TEST_F(RunRecordTest, AResultSurvivesItsJournal) {
    const measure::RunResult run = test::sample_run();
    const std::string bytes = write("a", run);
    RunAssembler assembler;
    assemble("a", assembler);
    const measure::RunResult& back = assembler.result();

    EXPECT_EQ(back.uuid, run.uuid);
    EXPECT_EQ(back.started_utc, run.started_utc);
    EXPECT_EQ(back.profile_text, run.profile_text);
    EXPECT_EQ(back.seed, run.seed);
    EXPECT_EQ(back.line_rate_bits_per_s, run.line_rate_bits_per_s);
    EXPECT_EQ(back.settings, run.settings);
    EXPECT_EQ(back.environment, run.environment);
    EXPECT_EQ(back.dut, run.dut);
    EXPECT_EQ(back.disclosures, run.disclosures);
    EXPECT_EQ(back.outcome, run.outcome);
    ASSERT_EQ(back.measurements.size(), 1U);
    EXPECT_EQ(back.measurements[0].message_latency, run.measurements[0].message_latency);
    EXPECT_EQ(back.measurements[0].iteration_ns, run.measurements[0].iteration_ns);
    EXPECT_EQ(back.measurements[0].calls[1].completion_ns, run.measurements[0].calls[1].completion_ns);
    EXPECT_EQ(back.measurements[0].calls[1].ideal_bound, run.measurements[0].calls[1].ideal_bound);
    ASSERT_EQ(back.ports.size(), 2U);
    for (const auto& counter : measure::kPortCounters)
        EXPECT_EQ(back.ports[1].*counter.value, run.ports[1].*counter.value) << counter.name;
    EXPECT_EQ(back.rank_results[0].max_lateness_ns, std::nullopt);
    EXPECT_EQ(back.rank_results[1].max_lateness_ns, 9'000);
    EXPECT_EQ(back.self_check.clock, "tsc 2300.000 MHz");
    ASSERT_EQ(back.events.size(), 2U);
    EXPECT_EQ(back.events[1].text, "pass");

    // What was rebuilt writes the same bytes again: nothing is lost on the way.
    EXPECT_EQ(write("b", back), bytes);
}

TEST_F(RunRecordTest, EqualRunsWriteEqualBytes) {
    const std::string bytes = write("a", test::sample_run());
    EXPECT_EQ(write("b", test::sample_run()), bytes);
    EXPECT_EQ(write("c", test::sample_run()), bytes);
}

TEST_F(RunRecordTest, NothingOfHostOrTimeIsWrittenUnlessGiven) {
    measure::RunResult run = test::sample_run();
    run.started_utc.clear();
    run.environment.clear();
    const auto fields = nlohmann::json::parse(run_started(Instant{}, run).json);
    EXPECT_FALSE(fields.contains("started_utc"));
    EXPECT_FALSE(fields.contains("environment"));
}

TEST_F(RunRecordTest, ARunCutShortStaysRunningWithWhatWasKnown) {
    RunAssembler assembler;
    const measure::RunResult run = test::sample_run();
    ASSERT_TRUE(assembler.add(run_started(Instant{}, run)));
    ASSERT_TRUE(assembler.add(measurement_started(Instant{}, 0, run.measurements[0])));
    ASSERT_TRUE(assembler.add(completion_times(0, 0, 0, run.measurements[0].calls[0].completion_ns[0])));
    EXPECT_EQ(assembler.result().outcome, measure::Outcome::running);
    EXPECT_EQ(assembler.result().measurements[0].calls[0].completion_ns.size(), 1U);
    EXPECT_EQ(assembler.result().measurements[0].calls[0].wrong_elements, std::nullopt) << "not checked is not 0";
    EXPECT_TRUE(assembler.result().measurements[0].calls[1].completion_ns.empty());
}

TEST_F(RunRecordTest, TwoProcessesBecomeOneRun) {
    measure::RunResult run = test::sample_run();
    run.outcome = measure::Outcome::running;
    run.events.clear();
    measure::RunResult other = run;
    other.measurements[0].calls[0].completion_ns[1][3] += 1'000'000;  // its rank was the slower one here
    other.measurements[0].calls[0].completion_ns[0][0] -= 1'000;
    other.measurements[0].calls[0].wrong_elements = 2;
    other.ports[0].name = "hca7";
    other.outcome = measure::Outcome::error;
    other.reason = "peer lost";
    other.self_check.verdict = "late";
    write("a", run);
    write("b", other);
    RunAssembler assembler;
    assemble("a", assembler);
    assemble("b", assembler);
    const auto& got = assembler.result();
    const auto& call = got.measurements[0].calls[0];
    EXPECT_EQ(call.completion_ns[1][3], other.measurements[0].calls[0].completion_ns[1][3]);
    EXPECT_EQ(call.completion_ns[0][0], run.measurements[0].calls[0].completion_ns[0][0]);
    EXPECT_EQ(call.wrong_elements, 2U);
    EXPECT_EQ(got.measurements[0].message_latency.count(), 60'000U);
    EXPECT_EQ(got.ports.size(), 3U);
    EXPECT_EQ(got.outcome, measure::Outcome::error);
    EXPECT_EQ(got.reason, "peer lost");
    EXPECT_EQ(got.self_check.verdict, "late");
    EXPECT_EQ(got.self_check.late_steps, 6U);

    measure::RunResult stranger = test::sample_run();
    stranger.uuid = "another";
    EXPECT_FALSE(assembler.add(run_started(Instant{}, stranger)));
}

TEST_F(RunRecordTest, TheGraverOutcomeStands) {
    RunAssembler assembler;
    ASSERT_TRUE(assembler.add(outcome(Instant{}, measure::Outcome::invalid, "generator bound")));
    ASSERT_TRUE(assembler.add(outcome(Instant{}, measure::Outcome::pass, "")));
    EXPECT_EQ(assembler.result().outcome, measure::Outcome::invalid);
    EXPECT_EQ(assembler.result().reason, "generator bound");
}

TEST_F(RunRecordTest, AProcessWithoutOutcomeDoesNotPass) {
    RunAssembler assembler;
    const auto passed = outcome(Instant{}, measure::Outcome::pass, "");
    ASSERT_TRUE(assembler.add(run_started(Instant{}, test::sample_run())));
    ASSERT_TRUE(assembler.add(passed));
    EXPECT_EQ(assembler.result().outcome, measure::Outcome::pass);
    ASSERT_TRUE(assembler.add(run_started(Instant{}, test::sample_run())));
    ASSERT_TRUE(assembler.add(run_started(Instant{}, test::sample_run())));
    ASSERT_TRUE(assembler.add(passed));
    EXPECT_EQ(assembler.result().outcome, measure::Outcome::running);
    ASSERT_TRUE(assembler.add(passed));
    EXPECT_EQ(assembler.result().outcome, measure::Outcome::pass);
}

TEST_F(RunRecordTest, UnusableRecordsAreErrorsThatSayWhy) {
    RunAssembler assembler;
    const auto why = [&](auto&& record) {
        const auto added = assembler.add(record);
        return added ? std::string{"accepted"} : added.error().message;
    };
    using testing::HasSubstr;
    EXPECT_THAT(why(completion_times(0, 0, 0, {})), HasSubstr("measurement 0 was not announced"));
    EXPECT_THAT(why(Event{{}, "run_started", "{}"}), HasSubstr(R"(it has no field "uuid")"));
    EXPECT_THAT(why(Event{{}, "outcome", R"({"outcome":"great","reason":""})"}), HasSubstr(R"("great" is unknown)"));
    EXPECT_THAT(why(Event{{}, "warning", "{"}), HasSubstr("parse error"));
    EXPECT_THAT(why(Event{{}, "warning", "[]"}), HasSubstr("no object"));
    EXPECT_THAT(why(Event{{}, "counters", R"({"ports":7})"}), testing::Not("accepted"));
    ASSERT_TRUE(assembler.add(measurement_started({}, 0, test::sample_run().measurements[0])));
    EXPECT_THAT(why(completion_times(0, 9, 0, {})), HasSubstr("call 9 was not announced"));
    EXPECT_THAT(why(completion_times(0, 0, 1'000'000'000, {})), HasSubstr("out of order"));
    EXPECT_THAT(why(measurement_started({}, 7, {})), HasSubstr("out of order"));
    EXPECT_THAT(why(Chunk{ChunkKind::histogram_counts, 0, 0, 0, {1}}), HasSubstr("no pairs"));
    EXPECT_THAT(why(Chunk{ChunkKind::histogram_counts, 0, 0, 0, {1U << 20U, 1}}), HasSubstr("does not exist"));
}

TEST_F(RunRecordTest, EventsOfKindsNotKnownAreKept) {
    RunAssembler assembler;
    ASSERT_TRUE(assembler.add(Event{Instant{Nanoseconds{4}}, "link_down", R"({"port":1})"}));
    ASSERT_EQ(assembler.result().events.size(), 1U);
    EXPECT_EQ(assembler.result().events[0].kind, "link_down");
    EXPECT_EQ(assembler.result().events[0].text, R"({"port":1})");
}

TEST_F(RunRecordTest, FieldsAreStrictJsonWhateverTheTextHolds) {
    measure::RunResult run = test::sample_run();
    run.profile_text = "bad utf-8 \xff, control \x01, quote \"";
    run.line_rate_bits_per_s = std::nullopt;
    const auto fields = nlohmann::json::parse(run_started(Instant{}, run).json);
    EXPECT_TRUE(fields["line_rate_bits_per_s"].is_null());
    measure::SelfCheck check;
    check.busy_share = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(nlohmann::json::parse(self_check(Instant{}, check).json)["busy_share"].is_null());
}

}  // namespace
}  // namespace gradstorm::events
