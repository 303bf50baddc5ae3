// SPDX-License-Identifier: Apache-2.0
// A run killed at any moment loses nothing that its journal acknowledged.
#include "storage/store/run_store.h"
#include "tests/unit/store/store_fixture.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <random>
#include <string>

namespace gradstorm::store {
namespace {

class StoreKillTest : public StoreFixture {
protected:
    /// What the killed process does: journals numbered warnings, takes them in now and then, finishes when it may.
    [[noreturn]] void live(int n, int acknowledge) const {
        auto store = RunStore::open(path());
        if (!store) ::_exit(3);
        const auto id = store->begin_run(start(n));
        auto journal = events::JournalWriter::create(journal_path(n));
        if (!id || !journal) ::_exit(4);
        for (int record = 1; record <= 2000; ++record) {
            if (!journal->append(events::message(Instant{Nanoseconds{record}}, "warning", "record"))) ::_exit(5);
            if (::write(acknowledge, &record, sizeof record) != sizeof record) ::_exit(6);
            if (record % 16 == 0 && !store->ingest(*id)) ::_exit(7);
        }
        ::_exit(0);
    }
};

TEST_F(StoreKillTest, NothingAcknowledgedIsLostInAHundredKills) {
    std::minstd_rand random(2026);
    constexpr int kKills = 100;
    int acknowledged[kKills] = {};
    {
        RunStore made = open();
    }
    for (int n = 0; n < kKills; ++n) {
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = ::fork();
        if (child == 0) live(n, pipe_ends[1]);
        ::close(pipe_ends[1]);
        // Every other one dies while it opens the store, the others while they journal and take in.
        if (n % 2 == 1) static_cast<void>(::read(pipe_ends[0], &acknowledged[n], sizeof(int)));
        ::usleep(static_cast<useconds_t>(random() % (n % 2 == 1 ? 8'000 : 20'000)));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "exit " << WEXITSTATUS(status);
        for (int record = 0; ::read(pipe_ends[0], &record, sizeof record) == sizeof record;) acknowledged[n] = record;
        ::close(pipe_ends[0]);
        // From here on the next child recovers this one's run when it opens the store, or is killed while it does.
    }
    RunStore store = open();
    EXPECT_EQ(store.notice(), "");
    EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
    int with_data = 0;
    for (int n = 0; n < kKills; ++n) {
        const auto id = store.find(start(n).uuid);
        if (!id) {
            EXPECT_EQ(acknowledged[n], 0) << "run " << n << " is not listed";
            continue;
        }
        const auto run = store.load(*id);
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(run->outcome, measure::Outcome::interrupted) << n;
        int records = 0;
        for (const auto& event : run->events)
            if (event.kind == "warning") {
                EXPECT_EQ(event.time_ns, ++records) << "in run " << n;
            }
        EXPECT_GE(records, acknowledged[n]) << "of run " << n;
        with_data += records > 0 ? 1 : 0;
        EXPECT_FALSE(fs::exists(journal_path(n)));
    }
    EXPECT_GE(with_data, kKills / 2) << "the test did not test much";
}

}  // namespace
}  // namespace gradstorm::store
