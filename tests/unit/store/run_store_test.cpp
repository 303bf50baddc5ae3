// SPDX-License-Identifier: Apache-2.0
#include "storage/store/run_store.h"

#include "tests/unit/store/store_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <iterator>
#include <string>

namespace gradstorm::store {
namespace {

using testing::HasSubstr;

class RunStoreTest : public StoreFixture {};

std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(RunStoreTest, ARunIsListedAsRunningFromItsStart) {
    RunStore store = open();
    const auto id = store.begin_run(start());
    ASSERT_TRUE(id) << id.error().message;
    RunStore other = open();  // another process would see the same
    const auto runs = other.list();
    ASSERT_TRUE(runs);
    ASSERT_EQ(runs->size(), 1U);
    EXPECT_EQ(runs->front().id, *id);
    EXPECT_EQ(runs->front().outcome, measure::Outcome::running);
    EXPECT_EQ(runs->front().started_utc, "2026-03-01T12:00:00Z");
    EXPECT_EQ(runs->front().profile_name, "");
    EXPECT_EQ(store.load(*id)->outcome, measure::Outcome::running);
}

TEST_F(RunStoreTest, AFinishedRunComesBackWhole) {
    const measure::RunResult run = sample();
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(run);
    const std::string journal = bytes_of(journal_path());
    expect_ok(store.finish(*id));
    EXPECT_FALSE(fs::exists(journal_path())) << "the journal goes when everything is in the store";
    EXPECT_EQ(fs::exists(path().string() + "-wal") ? fs::file_size(path().string() + "-wal") : 0, 0U);

    const auto back = store.load(*id);
    ASSERT_TRUE(back) << back.error().message;
    write_journal(*back);
    EXPECT_EQ(bytes_of(journal_path()), journal) << "nothing is lost or changed on the way through the store";
    const auto runs = store.list();
    EXPECT_EQ(runs->front().outcome, measure::Outcome::pass);
    EXPECT_EQ(runs->front().profile_name, "resnet50-ddp");
    EXPECT_EQ(runs->front().ranks, 2U);
}

TEST_F(RunStoreTest, IngestsWhatIsThereAndGoesOnLater) {
    const measure::RunResult run = sample();
    RunStore store = open();
    const auto id = store.begin_run(start());
    expect_ok(store.ingest(*id));  // the journal does not exist yet
    auto journal = events::JournalWriter::create(journal_path());
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->append(events::run_started(Instant{}, run)));
    ASSERT_TRUE(journal->append(events::measurement_started(Instant{}, 0, run.measurements[0])));
    expect_ok(store.ingest(*id));
    EXPECT_EQ(store.load(*id)->profile_name, "resnet50-ddp");
    EXPECT_EQ(query("SELECT label FROM calls WHERE call = 1"), "ddp[1]");
    EXPECT_TRUE(store.load(*id)->measurements[0].iteration_ns.empty());
    for (std::uint32_t r = 0; r < 2; ++r) {
        ASSERT_TRUE(journal->append(events::iteration_times(0, r, run.measurements[0].iteration_ns[r])));
        expect_ok(store.ingest(*id));
        expect_ok(store.ingest(*id));  // nothing new: nothing twice
    }
    EXPECT_EQ(store.load(*id)->measurements[0].iteration_ns, run.measurements[0].iteration_ns);
    EXPECT_EQ(query("SELECT count(*) FROM events"), "2");
    EXPECT_EQ(query("SELECT count(*) FROM chunks"), "2");
    EXPECT_EQ(query("SELECT max FROM chunks WHERE repetition = 1"), "6000001");
    EXPECT_EQ(store.list()->front().outcome, measure::Outcome::running);
}

TEST_F(RunStoreTest, PeopleCanQueryIt) {
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(sample());
    expect_ok(store.finish(*id));
    EXPECT_EQ(query("SELECT value FROM run_keys WHERE area = 'dut' AND key = 'switch'"), "leaf-1");
    EXPECT_EQ(query("SELECT value FROM run_keys WHERE area = 'environment' AND key = 'cpu'"), "AMD EPYC");
    EXPECT_EQ(query("SELECT value FROM run_keys WHERE area = 'setting' AND key = 'run.seed'"), "1");
    EXPECT_EQ(query("SELECT unit FROM metrics WHERE subject = 'call 0.0' AND name = 'busbw'"), "GB/s");
    // 8,196,000 bytes in a median of 1,000,407 ns on two ranks
    EXPECT_NEAR(std::stod(query("SELECT value FROM metrics WHERE subject = 'call 0.0' AND name = 'busbw'")),
                8'196'000 / 1'000'407.0, 1e-9);
    EXPECT_EQ(
        query("SELECT CAST(value AS INTEGER) FROM metrics WHERE subject = 'port hca1' AND name = 'payload_bytes'"),
        "793966720");
    EXPECT_EQ(query("SELECT count(*) FROM metrics WHERE subject = 'rank 0' AND name = 'lateness_max'"), "0")
        << "what was not measured has no row";
    EXPECT_EQ(query("SELECT count(*) FROM metrics WHERE name = 'message_latency_p99.99'"), "0")
        << "30,000 samples carry no p99.99";
    EXPECT_EQ(query("SELECT count(*) FROM metrics WHERE name = 'message_latency_p99.9'"), "1");
}

TEST_F(RunStoreTest, ARunWithoutOutcomeIsInterrupted) {
    measure::RunResult run = sample();
    run.outcome = measure::Outcome::running;
    run.events.clear();
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(run);
    expect_ok(store.finish(*id));
    EXPECT_EQ(store.load(*id)->outcome, measure::Outcome::interrupted);
    EXPECT_EQ(store.load(*id)->reason, "the run's process ended without a result");
    EXPECT_FALSE(store.finish(*id)) << "once more changes nothing, and says so";
    EXPECT_EQ(query("SELECT count(*) FROM events WHERE kind = 'outcome'"), "1");
}

TEST_F(RunStoreTest, TheOwnerKnowsBetterHowItEnded) {
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(sample());
    expect_ok(store.finish(*id, Ending{measure::Outcome::error, "peer lab-8 lost"}));
    EXPECT_EQ(store.load(*id)->outcome, measure::Outcome::error);
    EXPECT_EQ(store.load(*id)->reason, "peer lab-8 lost");
    EXPECT_EQ(store.load(*id)->events.back().text, "error: peer lab-8 lost");
}

TEST_F(RunStoreTest, JournalsOfAllProcessesAreTakenIn) {
    measure::RunResult run = sample();
    RunStore store = open();
    const auto id = store.begin_run(start());
    expect_ok(store.add_journal(*id, journal_path(1)));
    write_journal(run, 0);
    run.ports[0].name = "hca8";
    run.ports[1].name = "hca9";
    write_journal(run, 1);
    expect_ok(store.finish(*id));
    EXPECT_EQ(store.load(*id)->ports.size(), 4U);
    EXPECT_FALSE(fs::exists(journal_path(1)));
    EXPECT_FALSE(store.add_journal(*id, journal_path(2))) << "the run is over";
}

TEST_F(RunStoreTest, DamageIsKeptAsAWarningNotSilently) {
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(sample());
    {
        std::fstream file(journal_path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(-20, std::ios::end);
        file.put('\x7f');
    }
    expect_ok(store.finish(*id));
    const auto run = store.load(*id);
    EXPECT_EQ(run->outcome, measure::Outcome::interrupted);
    EXPECT_EQ(run->measurements[0].calls[1].completion_ns.size(), 2U);
    std::string warnings;
    for (const auto& e : run->events) warnings += e.text + '\n';
    EXPECT_THAT(warnings, HasSubstr("checksum is wrong"));
}

TEST_F(RunStoreTest, RunsOfProcessesThatAreGoneAreRecovered) {
    const pid_t child = ::fork();
    if (child == 0) {
        auto store = RunStore::open(path());
        const auto id = store ? store->begin_run(start()) : failure(ErrorCode::store, "");
        ::_exit(id ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    measure::RunResult run = sample();
    run.outcome = measure::Outcome::running;
    run.events.clear();
    write_journal(run);

    EXPECT_EQ(RunStore::open_read_only(path())->list()->front().outcome, measure::Outcome::running)
        << "who only reads changes nothing";
    RunStore store = open();
    EXPECT_EQ(store.notice(), "");
    const auto runs = store.list();
    ASSERT_EQ(runs->size(), 1U);
    EXPECT_EQ(runs->front().outcome, measure::Outcome::interrupted);
    EXPECT_EQ(store.load(runs->front().id)->ports.size(), 2U);
    EXPECT_FALSE(fs::exists(journal_path()));
}

// A process in a container or on another host has an id that means nothing here; its lock on the journal does.
TEST_F(RunStoreTest, ARunWhoseJournalIsBeingWrittenIsNobodysToClose) {
    RunStore owner = open();
    RunStart elsewhere = start();
    elsewhere.owner.boot_id = "another host";
    const auto id = owner.begin_run(elsewhere);
    auto journal = events::JournalWriter::create(journal_path());
    ASSERT_TRUE(journal->append(events::run_started(Instant{}, sample())));
    EXPECT_EQ(open().list()->front().outcome, measure::Outcome::running);
    expect_ok(owner.ingest(*id));
    {
        const auto gone = std::move(journal);
    }
    EXPECT_EQ(open().list()->front().outcome, measure::Outcome::interrupted);
}

TEST_F(RunStoreTest, TheOwnerHearsThatItsRunWasClosed) {
    RunStore owner = open();
    RunStart elsewhere = start();
    elsewhere.owner.boot_id = "another host";
    const auto id = owner.begin_run(elsewhere);
    EXPECT_EQ(open().list()->front().outcome, measure::Outcome::interrupted);
    write_journal(sample());
    EXPECT_THAT(owner.ingest(*id).error().message, HasSubstr("run 1 was closed by another process"));
    EXPECT_THAT(owner.finish(*id).error().message, HasSubstr("run 1 was closed by another process"));
}

TEST_F(RunStoreTest, TheOwnerHearsThatItsJournalIsGone) {
    RunStore store = open();
    const auto id = store.begin_run(start());
    expect_ok(store.ingest(*id));  // none yet
    write_journal(sample());
    expect_ok(store.ingest(*id));
    fs::remove(journal_path());
    EXPECT_THAT(store.ingest(*id).error().message, HasSubstr(journal_path().string()));
    EXPECT_THAT(store.finish(*id).error().message, HasSubstr(journal_path().string()));
}

TEST_F(RunStoreTest, ReusedProcessIdsAndOtherBootsAreNotAlive) {
    const ProcessIdentity self = this_process();
    EXPECT_TRUE(is_alive(self));
    EXPECT_FALSE(is_alive({self.pid, self.start_ticks + 1, self.boot_id}));
    EXPECT_FALSE(is_alive({self.pid, self.start_ticks, "another boot"}));
    EXPECT_FALSE(is_alive({1 << 30, self.start_ticks, self.boot_id}));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    ProcessIdentity zombie = self;
    zombie.pid = child;
    EXPECT_FALSE(is_alive(zombie));
    ::waitpid(child, nullptr, 0);
}

TEST_F(RunStoreTest, RunsAreFoundByNumberAndByTheBeginningOfTheirUuid) {
    RunStore store = open();
    const auto first = store.begin_run(start(1));
    const auto second = store.begin_run(start(2));
    RunStart twin = start(3);
    twin.uuid = start(2).uuid.substr(0, 8) + "-another";
    twin.journal = journal_path(3);
    ASSERT_TRUE(store.begin_run(twin));
    EXPECT_EQ(*store.find("1"), *first);
    EXPECT_EQ(*store.find(start(2).uuid), *second);
    EXPECT_EQ(*store.find("1f1c"), *first);
    EXPECT_THAT(store.find("2f1c").error().message, HasSubstr("fits 2 runs, give more of the uuid"));
    EXPECT_THAT(store.find("99").error().message, HasSubstr("there is no run 99"));
    EXPECT_THAT(store.find("").error().message, HasSubstr("there is no run"));
    EXPECT_THAT(store.find("%").error().message, HasSubstr("there is no run %"));
    EXPECT_FALSE(store.load(RunId{77}));
    EXPECT_THAT(store.finish(RunId{77}).error().message, HasSubstr("there is no run 77"));
    EXPECT_FALSE(store.begin_run(start(1))) << "a uuid is there once";
}

TEST_F(RunStoreTest, ListsNewestFirstAndFiltered) {
    RunStore store = open();
    for (int n = 0; n < 4; ++n) {
        const auto id = store.begin_run(start(n));
        if (n == 3) break;
        measure::RunResult run = sample(n);
        run.profile_name = n == 1 ? "other" : "resnet50-ddp";
        write_journal(run, n);
        expect_ok(store.finish(*id));
    }
    EXPECT_EQ(store.list()->size(), 4U);
    EXPECT_EQ(store.list()->front().uuid, start(3).uuid);
    EXPECT_EQ(store.list({"other", {}, {}})->size(), 1U);
    EXPECT_EQ(store.list({"", measure::Outcome::running, {}})->size(), 1U);
    EXPECT_EQ(store.list({"", measure::Outcome::pass, 2})->size(), 2U);
}

TEST_F(RunStoreTest, TheFileIsPrivateAndItsFolderIsMade) {
    const fs::path nested = dir_ / "a" / "b" / "runs.db";
    ASSERT_TRUE(RunStore::open(nested));
    struct stat info{};
    ASSERT_EQ(::stat(nested.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

}  // namespace
}  // namespace gradstorm::store
