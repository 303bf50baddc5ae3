// SPDX-License-Identifier: Apache-2.0
#include "engine/app/run_recorder.h"

#include "storage/store/run_store.h"
#include "tests/unit/events/sample_run.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace gradstorm::app {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class RunRecorderTest : public testing::Test {
protected:
    RunRecorderTest() {
        std::string name = (fs::temp_directory_path() / "gradstorm-recorder-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        run_ = test::sample_run();
        run_.outcome = measure::Outcome::running;
    }
    ~RunRecorderTest() override { fs::remove_all(folder_); }

    [[nodiscard]] fs::path store() const { return folder_ / "runs.db"; }
    [[nodiscard]] std::size_t journals() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(folder_)) count += entry.path().extension() == ".gsjournal";
        return count;
    }

    fs::path folder_;
    measure::RunResult run_;
};

TEST_F(RunRecorderTest, AFinishedRunSaysWhereItIsStored) {
    const auto recorder = RunRecorder::begin({.store = store(), .journal = {}, .events = {}}, run_);
    ASSERT_TRUE(recorder) << recorder.error().message;
    EXPECT_EQ((*recorder)->stored_as(), "") << "not yet";
    EXPECT_EQ(journals(), 1U);
    (*recorder)->finish(Instant{}, measure::Outcome::pass, "");
    EXPECT_EQ((*recorder)->result().outcome, measure::Outcome::pass);
    EXPECT_EQ((*recorder)->stored_as(), "run 1 in " + store().string());
    EXPECT_EQ(journals(), 0U);
}

TEST_F(RunRecorderTest, AStoreThatIsLockedForAWhileDoesNotHarmTheRun) {
    const auto recorder = RunRecorder::begin({.store = store(), .journal = {}, .events = {}}, run_);
    ASSERT_TRUE(recorder) << recorder.error().message;
    SQLite::Database other(store().string(), SQLite::OPEN_READWRITE);
    {
        const SQLite::Transaction held(other, SQLite::TransactionBehavior::IMMEDIATE);
        (*recorder)->record(events::message(Instant{}, events::kind::kWarning, "while it was locked"));
        const auto before = std::chrono::steady_clock::now();
        (*recorder)->checkpoint();
        EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{2}) << "the run waits for this";
        EXPECT_FALSE((*recorder)->failure()) << (*recorder)->failure()->message;
    }
    (*recorder)->finish(Instant{}, measure::Outcome::pass, "");
    EXPECT_EQ((*recorder)->result().outcome, measure::Outcome::pass);
    EXPECT_EQ(other.execAndGet("SELECT count(*) FROM events WHERE fields LIKE '%while it was locked%'").getInt(), 1);
}

TEST_F(RunRecorderTest, ARunThatCannotBeClosedInTheStoreIsAnErrorAndKeepsItsJournal) {
    const auto recorder = RunRecorder::begin({.store = store(), .journal = {}, .events = {}}, run_);
    ASSERT_TRUE(recorder) << recorder.error().message;
    SQLite::Database(store().string(), SQLite::OPEN_READWRITE).exec("UPDATE runs SET complete = 1");
    (*recorder)->finish(Instant{}, measure::Outcome::pass, "");
    EXPECT_EQ((*recorder)->result().outcome, measure::Outcome::error);
    EXPECT_THAT((*recorder)->result().reason, HasSubstr("run 1 was closed by another process"));
    EXPECT_EQ((*recorder)->stored_as(), "");
    EXPECT_THAT((*recorder)->notice(), HasSubstr(run_.uuid + ".gsjournal"));
    EXPECT_EQ(journals(), 1U);
}

TEST_F(RunRecorderTest, AListenerThatGoesAwayBeforeTheOutcomeIsAnError) {
    const auto former = std::signal(SIGPIPE, SIG_IGN);
    const fs::path pipe = folder_ / "events";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int listener = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    const auto recorder = RunRecorder::begin({.store = {}, .journal = {}, .events = pipe.string()}, run_);
    ASSERT_TRUE(recorder) << recorder.error().message;
    ::close(listener);
    (*recorder)->finish(Instant{}, measure::Outcome::pass, "");
    EXPECT_EQ((*recorder)->result().outcome, measure::Outcome::error);
    EXPECT_THAT((*recorder)->result().reason, HasSubstr("events cannot be written"));
    std::signal(SIGPIPE, former);
}

TEST_F(RunRecorderTest, ARunThatDoesNotBeginLeavesNoJournal) {
    {
        auto made = store::RunStore::open(store());
        ASSERT_TRUE(made) << made.error().message;
        ASSERT_TRUE(made->begin_run({.uuid = run_.uuid, .started_utc = "now", .journal = folder_ / "other"}));
    }
    EXPECT_FALSE(RunRecorder::begin({.store = store(), .journal = {}, .events = {}}, run_)) << "the uuid is taken";
    EXPECT_EQ(journals(), 0U);
}

TEST_F(RunRecorderTest, ARunWhoseEventsCannotBeWrittenIsClosedAtOnce) {
    EXPECT_FALSE(RunRecorder::begin({.store = store(), .journal = {}, .events = "/dev/full"}, run_));
    EXPECT_EQ(store::RunStore::open_read_only(store())->list()->front().outcome, measure::Outcome::error);
    EXPECT_EQ(journals(), 0U);
}

}  // namespace
}  // namespace gradstorm::app
