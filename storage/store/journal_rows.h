// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/events/journal.h"
#include "engine/measure/run_result.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>

/// Private to storage/store: a journal's records as rows, and back.
namespace gradstorm::store {

/// Appends records to a run inside the caller's transaction. Throws SQLite::Exception.
class RecordRows {
public:
    RecordRows(SQLite::Database& db, std::int64_t run);
    void append(const events::Event& event);
    void append(const events::Chunk& chunk);
    /// Whether an event said what the run or a measurement is: the rows made from it are out of date.
    [[nodiscard]] bool described() const { return described_; }

private:
    std::int64_t run_;
    std::int64_t next_;
    bool described_ = false;
    SQLite::Statement insert_event_;
    SQLite::Statement insert_chunk_;
};

enum class Depth { events_only, everything };

/// The run's result out of its rows. A record that cannot be used becomes a warning in its events.
[[nodiscard]] measure::RunResult assemble(SQLite::Database& db, std::int64_t run, Depth depth);

/// Columns of `runs`, run_keys and calls from what the run said about itself; replaces what is there.
void describe_run(SQLite::Database& db, std::int64_t run, const measure::RunResult& result);

/// Rows of `metrics`; replaces what is there.
void write_metrics(SQLite::Database& db, std::int64_t run, const measure::RunResult& result);

}  // namespace gradstorm::store
