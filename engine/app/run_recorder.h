// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/events/journal.h"
#include "engine/events/run_record.h"
#include "engine/measure/run_result.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace gradstorm::app {

struct RecorderOptions {
    std::optional<std::filesystem::path> store;    ///< empty: nothing is kept
    std::optional<std::filesystem::path> journal;  ///< where the journal goes; empty: beside the store, if any
    std::optional<std::string> events;             ///< JSON lines to this file, or "-" for standard output
};

/// Where a run's records go while it runs: into the journal first (acknowledged once append() has returned), then to
/// the listener of --events, and, when it is told to, into the store. Also assembles them, so that what is printed at
/// the end comes from the same records as what is stored. For the control thread.
///
/// A journal, event stream or store that cannot be written makes failure() non-empty, once; recording goes on with what
/// still works, so that nothing measured is lost for a second reason. A store that somebody else has locked is no
/// failure until the run is to be closed in it.
class RunRecorder {
public:
    /// Begins the record of the run: it is listed as `running` in the store when this has returned.
    [[nodiscard]] static Result<std::unique_ptr<RunRecorder>> begin(const RecorderOptions& options,
                                                                    const measure::RunResult& run);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    void record(const events::Event& event);
    void record(const events::Chunk& chunk);
    /// Takes into the store what the journal holds by now.
    void checkpoint();
    /// Writes the outcome, closes the run in the store. When recording failed, now or before, the outcome of result()
    /// is `error`.
    void finish(Instant time, measure::Outcome outcome, const std::string& reason);

    [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
    [[nodiscard]] const measure::RunResult& result() const { return assembler_.result(); }
    /// "run 12 in FILE" once the run is closed in the store; until then, or when nothing is kept, empty.
    [[nodiscard]] const std::string& stored_as() const { return stored_as_; }
    /// What the user should know of the store (a run not recovered, where the journal was left, ...), or empty.
    [[nodiscard]] const std::string& notice() const { return notice_; }

private:
    struct Kept;
    RunRecorder();
    Result<void> open(const RecorderOptions& options, const measure::RunResult& run);
    Result<void> open_events(const std::string& target);
    void note(const Result<void>& result);

    std::unique_ptr<Kept> kept_;
    std::optional<events::JournalWriter> journal_;
    std::FILE* events_ = nullptr;
    std::string events_name_;
    events::RunAssembler assembler_;
    std::optional<Error> failure_;
    std::string stored_as_;
    std::string notice_;
};

/// Where runs are kept when no --store is given: gradstorm/runs.db in $XDG_DATA_HOME, or in .local/share of the home.
[[nodiscard]] Result<std::filesystem::path> default_store();

}  // namespace gradstorm::app
