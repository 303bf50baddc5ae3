// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/measure/run_result.h"
#include "storage/store/process_identity.h"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The run store: one SQLite file that belongs to one account. Every run of `gradstorm run` is in it from its start;
/// the data comes from the run's journals, so that whatever a journal acknowledged is kept even if the process was
/// killed.
namespace gradstorm::store {

/// A run's number in this store. Other stores number differently; the uuid is the same everywhere.
struct RunId {
    std::int64_t value = 0;
    friend constexpr auto operator<=>(RunId, RunId) = default;
};

struct RunStart {
    std::string uuid;
    std::string started_utc;        ///< ISO 8601
    std::filesystem::path journal;  ///< of the process that owns the run; absolute
    ProcessIdentity owner = this_process();
};

/// How the owner says that a run ended, where the journals cannot know it (a child was killed).
struct Ending {
    measure::Outcome outcome = measure::Outcome::error;
    std::string reason;
};

/// One line of the list of runs.
struct RunSummary {
    RunId id;
    std::string uuid;
    std::string started_utc;
    std::string profile_name;  ///< empty until the run has said it
    measure::Outcome outcome = measure::Outcome::running;
    std::string reason;
    std::uint32_t ranks = 0;
    std::string engine;
};

struct ListFilter {
    std::string profile_name;                 ///< empty: all
    std::optional<measure::Outcome> outcome;  ///< empty: all
    std::optional<std::uint32_t> newest;      ///< at most so many
};

/// An open store. Errors have code `store`, name the file and say what to do. One object belongs to one thread; any
/// number of processes of the owner may have the file open: a writer waits up to five seconds for another one.
class RunStore {
public:
    /// Opens for writing, makes the file (and its folder) when there is none, migrates an older schema, and recovers
    /// the runs whose process is gone. A store of a newer schema is opened read-only: see notice(). Refused: a file
    /// that is no gradstorm store, that is damaged, or that belongs to another account.
    [[nodiscard]] static Result<RunStore> open(const std::filesystem::path& path);
    /// Opens an existing store and changes nothing in it.
    [[nodiscard]] static Result<RunStore> open_read_only(const std::filesystem::path& path);
    RunStore(RunStore&&) noexcept;
    RunStore& operator=(RunStore&&) noexcept;
    ~RunStore();

    [[nodiscard]] const std::filesystem::path& path() const;
    [[nodiscard]] bool read_only() const;
    /// A line for the user when the store is read-only against the caller's wish, or empty.
    [[nodiscard]] const std::string& notice() const;

    /// The run is listed as `running` when this has returned.
    [[nodiscard]] Result<RunId> begin_run(const RunStart& start);
    /// A further process's journal of the run; the owner stays the same.
    [[nodiscard]] Result<void> add_journal(RunId run, const std::filesystem::path& journal);
    /// Takes in what the run's journals hold by now. One transaction: the records and how far they were read. When the
    /// store is full the run is closed as `error`, reason "store full"; what was taken in before stays, the journal
    /// too. It waits for another writer a tenth of a second only, for the caller has a run to look after: then the
    /// error is `busy`, nothing is lost, and the next call takes in more. Fails when somebody else closed the run or
    /// removed its journal.
    [[nodiscard]] Result<void> ingest(RunId run);
    /// Takes in the rest, sets the outcome (that of the journals, or the graver `ending`), writes the metrics, flushes
    /// to the disk and removes the journals. Without any outcome the run is `interrupted`. Fails as ingest() does.
    [[nodiscard]] Result<void> finish(RunId run, const std::optional<Ending>& ending = std::nullopt);
    /// Finishes the runs whose process is gone and whose journals nobody writes: `interrupted`, with all that their
    /// journals acknowledged. open() does it; returns the runs.
    [[nodiscard]] Result<std::vector<RunId>> recover();

    [[nodiscard]] Result<measure::RunResult> load(RunId run) const;
    /// Newest first.
    [[nodiscard]] Result<std::vector<RunSummary>> list(const ListFilter& filter = {}) const;
    /// By number ("12"), uuid, or the beginning of a uuid (at least four characters) that fits one run.
    [[nodiscard]] Result<RunId> find(std::string_view text) const;

    /// Writes the runs' data, this run only, as a store file of its own that any account may read. Fails when `file`
    /// exists.
    [[nodiscard]] Result<void> export_run(RunId run, const std::filesystem::path& file) const;
    /// Bound on the file's size in pages of 4 KiB, for disks with a quota; for this connection.
    [[nodiscard]] Result<void> limit_pages(std::uint32_t pages);

private:
    struct State;
    explicit RunStore(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gradstorm::store
