// SPDX-License-Identifier: Apache-2.0
// What SQLite does behind the back of a program that does not know it: each trap is one test.
#include "storage/store/database.h"
#include "storage/store/run_store.h"
#include "tests/unit/store/store_fixture.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace gradstorm::store {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class StoreTrap : public StoreFixture {
protected:
    /// A store that holds one finished run.
    RunId finished_run() {
        RunStore store = open();
        const auto id = store.begin_run(start());
        write_journal(sample());
        expect_ok(store.finish(*id));
        return *id;
    }
};

// T1: a second writer waits for the first one instead of failing at once.
TEST_F(StoreTrap, WritersWaitForEachOther) {
    RunStore store = open();
    SQLite::Database other(path().string(), SQLite::OPEN_READWRITE);
    SQLite::Transaction held(other, SQLite::TransactionBehavior::IMMEDIATE);
    std::thread release([&] {
        std::this_thread::sleep_for(150ms);
        held.commit();
    });
    const auto id = store.begin_run(start());
    release.join();
    EXPECT_TRUE(id) << id.error().message;
}

// T2: a deferred transaction that reads and then writes after somebody else did fails at once; ours are immediate.
TEST_F(StoreTrap, TwoIngestingProcessesDoNotCollide) {
    RunStore first = open();
    RunStore second = open();
    const auto a = first.begin_run(start(1));
    const auto b = second.begin_run(start(2));
    auto journal_a = events::JournalWriter::create(journal_path(1));
    auto journal_b = events::JournalWriter::create(journal_path(2));
    std::atomic<int> failures{0};
    const auto work = [&](RunStore& store, RunId run, events::JournalWriter& journal) {
        for (int n = 0; n < 40; ++n) {
            if (!journal.append(events::message(Instant{}, "warning", "x"))) ++failures;
            if (!store.ingest(run)) ++failures;
        }
    };
    std::thread other([&] { work(second, *b, *journal_b); });
    work(first, *a, *journal_a);
    other.join();
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(query("SELECT count(*) FROM events"), "80");
}

// T3 and T4: a copy of the file alone misses the write-ahead log; an export is one whole file that needs no side files.
TEST_F(StoreTrap, ExportsAreWholeFilesOfTheirOwn) {
    const RunId id = finished_run();
    RunStore store = open();
    ASSERT_TRUE(store.begin_run(start(7)));  // hot write-ahead log, and a run that is not to be exported
    const fs::path file = dir_ / "export" / "run.db";
    fs::create_directory(dir_ / "export");
    expect_ok(store.export_run(id, file));
    EXPECT_FALSE(fs::exists(file.string() + "-wal"));
    {
        SQLite::Database db(file.string());
        EXPECT_EQ(db.execAndGet("PRAGMA journal_mode").getString(), "delete");
        EXPECT_EQ(db.execAndGet("PRAGMA integrity_check").getString(), "ok");
    }
    ::chmod((dir_ / "export").c_str(), 0500);
    const auto exported = RunStore::open_read_only(file);
    ASSERT_TRUE(exported) << exported.error().message;
    ASSERT_EQ(exported->list()->size(), 1U);
    EXPECT_EQ(exported->load(exported->list()->front().id)->measurements[0].calls.size(), 2U);
    ::chmod((dir_ / "export").c_str(), 0700);
    EXPECT_THAT(store.export_run(id, file).error().message, HasSubstr("exists, name a new file"));
    EXPECT_THAT(store.export_run(RunId{99}, dir_ / "no").error().message, HasSubstr("no run 99"));
    EXPECT_FALSE(fs::exists(dir_ / "no"));
}

// T5: the side files of another account lock the owner out: a live store is its owner's alone.
TEST_F(StoreTrap, AnotherAccountsLiveStoreIsRefusedItsExportIsRead) {
    const RunId id = finished_run();
    const fs::path file = dir_ / "export.db";
    expect_ok(open().export_run(id, file));
    constexpr uid_t kSomebody = 65534;
    if (::chown(path().c_str(), kSomebody, kSomebody) != 0 || ::chown(file.c_str(), kSomebody, kSomebody) != 0)
        GTEST_SKIP() << "only root can give files away";
    for (const auto& refused : {RunStore::open(path()).error(), RunStore::open_read_only(path()).error()})
        EXPECT_THAT(refused.message, testing::AllOf(HasSubstr("belongs to another account"), HasSubstr("65534")));
    EXPECT_TRUE(RunStore::open_read_only(file));
}

// T6: SQLite turns "not a number" into NULL: no metric that is none gets that far.
TEST_F(StoreTrap, NumbersThatAreNoneAreNotStored) {
    measure::RunResult run = sample();
    run.self_check.busy_share = std::numeric_limits<double>::quiet_NaN();
    run.self_check.clock_residual_ppm = std::numeric_limits<double>::infinity();
    run.line_rate_bits_per_s = std::numeric_limits<double>::quiet_NaN();
    RunStore store = open();
    const auto id = store.begin_run(start());
    write_journal(run);
    expect_ok(store.finish(*id));
    EXPECT_EQ(store.load(*id)->line_rate_bits_per_s, std::nullopt);
    EXPECT_EQ(query("SELECT count(*) FROM runs WHERE line_rate_bits_per_s IS NULL"), "1");
    EXPECT_EQ(query("SELECT count(*) FROM metrics WHERE abs(value) > 1e300"), "0");
}

// T7: a full store fails the statement, not the file: the run is closed, what was in stays, the journal too.
TEST_F(StoreTrap, AFullStoreClosesTheRunAndKeepsTheData) {
    const measure::RunResult run = sample();
    RunId id;
    {
        RunStore store = open();
        id = *store.begin_run(start());
        auto journal = events::JournalWriter::create(journal_path());
        ASSERT_TRUE(journal->append(events::run_started(Instant{}, run)));
        ASSERT_TRUE(journal->append(events::measurement_started(Instant{}, 0, run.measurements[0])));
        expect_ok(store.ingest(id));
        expect_ok(store.limit_pages(1));  // as many as there are
        const std::vector<std::int64_t> many(20'000, 5);
        ASSERT_TRUE(journal->append(events::iteration_times(0, 0, many)));
        const auto full = store.ingest(id);
        ASSERT_FALSE(full);
        EXPECT_EQ(full.error().code, ErrorCode::store);
        EXPECT_THAT(full.error().message, testing::AllOf(HasSubstr(path().string()), HasSubstr("store full")));
        EXPECT_EQ(store.list()->front().outcome, measure::Outcome::error);
        EXPECT_EQ(store.list()->front().reason, "store full");
        EXPECT_FALSE(store.finish(id));
        EXPECT_EQ(store.load(id)->reason, "store full");
        EXPECT_EQ(store.load(id)->measurements[0].calls.size(), 2U);
        EXPECT_TRUE(fs::exists(journal_path()));
    }
    EXPECT_EQ(query("PRAGMA integrity_check"), "ok");
    RunStore roomy = open();  // room again: the rest is taken in
    expect_ok(roomy.finish(id));
    EXPECT_EQ(roomy.load(id)->measurements[0].iteration_ns[0].size(), 20'000U);
    EXPECT_EQ(roomy.load(id)->outcome, measure::Outcome::interrupted);
}

// T8: other files and damaged ones are named as what they are.
TEST_F(StoreTrap, FilesThatAreNoStoreAreNamed) {
    std::ofstream(path()) << "this is a text file, long enough to be mistaken for something by its size alone, "
                             "but it does not begin as SQLite's files do\n";
    for (const auto& error : {RunStore::open(path()).error(), RunStore::open_read_only(path()).error()}) {
        EXPECT_EQ(error.code, ErrorCode::store);
        EXPECT_EQ(error.message, path().string() + ": not a database, name a run store with --store");
    }
    fs::remove(path());
    EXPECT_THAT(RunStore::open_read_only(path()).error().message, HasSubstr("No such file"));
    EXPECT_FALSE(fs::exists(path())) << "reading makes no file";
    EXPECT_THAT(RunStore::open(dir_).error().message, HasSubstr("not a file"));
    EXPECT_THAT(RunStore::open("/proc/no/where.db").error().message, HasSubstr("/proc/no/where.db: cannot open"));
    {
        SQLite::Database foreign(path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        foreign.exec("CREATE TABLE bookmarks (url TEXT)");
    }
    EXPECT_THAT(RunStore::open(path()).error().message, HasSubstr("a database of another program"));
    fs::remove(path());
    std::ofstream(path()).close();
    EXPECT_THAT(RunStore::open_read_only(path()).error().message, HasSubstr("an empty file"));
    EXPECT_TRUE(RunStore::open(path())) << "an empty file becomes a store";
}

TEST_F(StoreTrap, NetworkFileSystemsAreKnownByTheirNumbers) {
    EXPECT_STREQ(network_file_system(0x6969), "NFS");
    EXPECT_STREQ(network_file_system(0xFF534D42), "SMB");
    EXPECT_STREQ(network_file_system(0x01021997), "9p");
    EXPECT_EQ(network_file_system(0xEF53), nullptr) << "ext4";
}

TEST_F(StoreTrap, ATruncatedStoreIsNamedAsDamaged) {
    finished_run();
    fs::resize_file(path(), fs::file_size(path()) / 2);
    const auto damaged = RunStore::open(path());
    std::string message = damaged ? "" : damaged.error().message;
    if (damaged) message = damaged->list() ? damaged->load(RunId{1}).error().message : damaged->list().error().message;
    EXPECT_THAT(message, testing::AllOf(HasSubstr(path().string()), HasSubstr("damaged"), HasSubstr("malformed"),
                                        HasSubstr("move it away")));
}

// T9: SQLite does not mind a newer schema; we do.
TEST_F(StoreTrap, ANewerStoreIsOpenedReadOnlyAndSaysSo) {
    const RunId id = finished_run();
    SQLite::Database(path().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 2");
    RunStore store = open();
    EXPECT_TRUE(store.read_only());
    EXPECT_THAT(store.notice(), HasSubstr("schema 2, this version knows 1: opened read-only"));
    EXPECT_TRUE(store.load(id));
    EXPECT_THAT(store.begin_run(start(5)).error().message, HasSubstr("read-only"));
    EXPECT_THAT(store.finish(id).error().message, HasSubstr("read-only"));
}

TEST_F(StoreTrap, TheStoreIsMarkedAndInWriteAheadMode) {
    finished_run();
    EXPECT_EQ(query("PRAGMA application_id"), std::to_string(0x4753746d));
    EXPECT_EQ(query("PRAGMA user_version"), "1");
    EXPECT_EQ(query("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(query("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 "
                    "AND name NOT LIKE 'sqlite_%'"),
              "0")
        << "every table is STRICT";
}

}  // namespace
}  // namespace gradstorm::store
