// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/events/journal.h"
#include "engine/events/run_record.h"
#include "storage/store/run_store.h"
#include "tests/unit/events/sample_run.h"

#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <utility>

namespace gradstorm::store {

namespace fs = std::filesystem;

/// A folder of its own with a store and journals in it.
class StoreFixture : public testing::Test {
protected:
    StoreFixture() {
        std::string name = (fs::temp_directory_path() / "gradstorm-store-XXXXXX").string();
        dir_ = ::mkdtemp(name.data());
    }
    ~StoreFixture() override { fs::remove_all(dir_); }

    [[nodiscard]] fs::path path() const { return dir_ / "runs.db"; }
    [[nodiscard]] fs::path journal_path(int n = 0) const { return dir_ / ("run" + std::to_string(n) + ".journal"); }

    RunStore open() {
        auto store = RunStore::open(path());
        if (!store) ADD_FAILURE() << store.error().message;
        return std::move(store).value();
    }
    [[nodiscard]] RunStart start(int n = 0) const {
        RunStart s;
        s.uuid = std::to_string(n) + "f1c1a52-9d0e-4a63-b7f5-2f3d3c8a9b10";
        s.started_utc = "2026-03-01T12:00:00Z";
        s.journal = journal_path(n);
        return s;
    }
    /// The sample run under the uuid of start(n).
    [[nodiscard]] measure::RunResult sample(int n = 0) const {
        measure::RunResult run = test::sample_run();
        run.uuid = start(n).uuid;
        return run;
    }
    void write_journal(const measure::RunResult& run, int n = 0) const {
        auto journal = events::JournalWriter::create(journal_path(n));
        ASSERT_TRUE(journal) << journal.error().message;
        const auto done = events::append_result(*journal, Instant{Nanoseconds{9'000'000}}, run);
        ASSERT_TRUE(done) << done.error().message;
    }

    std::string query(const std::string& sql) const {
        SQLite::Database db(path().string(), SQLite::OPEN_READONLY, 5000);
        return db.execAndGet(sql).getString();
    }

    fs::path dir_;
};

inline void expect_ok(const Result<void>& result) { EXPECT_TRUE(result) << result.error().message; }

}  // namespace gradstorm::store
