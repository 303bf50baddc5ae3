// SPDX-License-Identifier: Apache-2.0
#include "storage/store/run_store.h"

#include "engine/events/run_record.h"
#include "storage/store/database.h"
#include "storage/store/journal_rows.h"

#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <charconv>
#include <sqlite3.h>
#include <stdexcept>
#include <utility>

namespace gradstorm::store {
namespace {

constexpr std::string_view kStoreFull = "store full";
constexpr int kIngestPatienceMs = 100;
constexpr const char* kNoEnd = "the run's process ended without a result";

struct JournalRow {
    std::int64_t id = 0;
    std::filesystem::path path;
    std::uint64_t offset = 0;
};

std::vector<JournalRow> journals_of(SQLite::Database& db, std::int64_t run) {
    SQLite::Statement query(db, "SELECT id, path, next_offset FROM journals WHERE run_id = ? ORDER BY id");
    query.bind(1, run);
    std::vector<JournalRow> rows;
    while (query.executeStep())
        rows.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString(),
                        static_cast<std::uint64_t>(query.getColumn(2).getInt64())});
    return rows;
}

void set_outcome(SQLite::Database& db, std::int64_t run, measure::Outcome outcome, const std::string& reason,
                 bool complete) {
    SQLite::Statement update(db, "UPDATE runs SET outcome = ?2, reason = ?3, complete = ?4 WHERE id = ?1");
    update.bind(1, run);
    update.bind(2, std::string{to_string(outcome)});
    update.bind(3, reason);
    update.bind(4, complete ? 1 : 0);
    update.exec();
}

bool is_complete(SQLite::Database& db, std::int64_t run) {
    SQLite::Statement query(db, "SELECT complete FROM runs WHERE id = ?");
    query.bind(1, run);
    if (!query.executeStep()) throw std::runtime_error("there is no run " + std::to_string(run));
    return query.getColumn(0).getInt() != 0;
}

void add_journal_row(SQLite::Database& db, std::int64_t run, const std::filesystem::path& journal,
                     const ProcessIdentity& owner) {
    SQLite::Statement insert(db,
                             "INSERT INTO journals (run_id, path, pid, process_start, boot_id) VALUES (?, ?, ?, ?, ?)");
    insert.bind(1, run);
    insert.bind(2, journal.string());
    insert.bind(3, owner.pid);
    insert.bind(4, owner.start_ticks);
    insert.bind(5, owner.boot_id);
    insert.exec();
}

RunSummary summary_of(SQLite::Statement& row) {
    RunSummary s;
    s.id = RunId{row.getColumn(0).getInt64()};
    s.uuid = row.getColumn(1).getString();
    s.started_utc = row.getColumn(2).getString();
    s.profile_name = row.getColumn(3).getString();
    s.outcome = measure::parse_outcome(row.getColumn(4).getString()).value_or(measure::Outcome::error);
    s.reason = row.getColumn(5).getString();
    s.ranks = row.getColumn(6).getUInt();
    s.engine = row.getColumn(7).getString();
    return s;
}

constexpr const char* kSummaryColumns =
    "SELECT id, uuid, started_utc, coalesce(profile_name, ''), outcome, reason, coalesce(ranks, 0), "
    "coalesce(engine, '') FROM runs ";

}  // namespace

struct RunStore::State {
    State(std::filesystem::path where, OpenDatabase&& opened)
        : path(std::move(where)),
          db(std::move(opened.db)),
          read_only(opened.read_only),
          notice(std::move(opened.notice)) {}

    [[nodiscard]] tl::unexpected<Error> error(const std::string& what) const {
        return failure(ErrorCode::store, path.string() + ": " + what);
    }
    [[nodiscard]] Result<void> writable() const {
        if (read_only) return error("the run store is open read-only");
        return {};
    }
    /// Runs f in one IMMEDIATE transaction: a deferred one would fail at once when somebody else wrote in between.
    template <class F>
    [[nodiscard]] Result<void> write(F&& f) {
        if (auto allowed = writable(); !allowed) return allowed;
        return guarded(path, [&]() -> Result<void> {
            SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
            if (Result<void> done = f(); !done) return done;
            transaction.commit();
            return {};
        });
    }

    /// Records of one journal behind its offset, into rows; what is damaged is added to `damage`.
    Result<void> take_in(RecordRows& rows, const JournalRow& journal, std::vector<std::string>& damage) {
        if (!std::filesystem::exists(journal.path)) {  // not made yet, or gone
            if (journal.offset > 0) damage.push_back(journal.path.string() + " is gone, and the run's last records");
            return {};
        }
        const auto read = events::read_journal(
            journal.path, journal.offset, [&](const events::Event& e) { rows.append(e); },
            [&](const events::Chunk& c) { rows.append(c); });
        if (!read) return tl::unexpected(read.error());
        if (!read->damage.empty()) damage.push_back(read->damage);
        SQLite::Statement update(db, "UPDATE journals SET next_offset = ? WHERE id = ?");
        update.bind(1, static_cast<std::int64_t>(read->next_offset));
        update.bind(2, journal.id);
        update.exec();
        return {};
    }
    Result<void> take_in_all(std::int64_t run, std::vector<std::string>& damage) {
        RecordRows rows(db, run);
        for (const JournalRow& journal : journals_of(db, run))
            if (auto taken = take_in(rows, journal, damage); !taken) return taken;
        if (rows.described()) describe_run(db, run, assemble(db, run, Depth::events_only));
        return {};
    }
    /// What the run's owner must hear of: somebody took it for dead and closed it, or removed its journal.
    Result<void> still_open(std::int64_t run) {
        if (is_complete(db, run)) return error("run " + std::to_string(run) + " was closed by another process");
        for (const JournalRow& journal : journals_of(db, run))
            if (journal.offset > 0 && !std::filesystem::exists(journal.path))
                return error("somebody removed " + journal.path.string() + ", the journal of a run under way");
        return {};
    }
    [[nodiscard]] bool has_writer(RunId run) {
        const auto journals = journals_of(db, run.value);
        return std::any_of(journals.begin(), journals.end(),
                           [](const JournalRow& journal) { return events::has_writer(journal.path); });
    }
    /// Everything that finish() writes, inside its transaction.
    Result<void> complete(std::int64_t run, const std::optional<Ending>& ending) {
        std::vector<std::string> damage;
        if (auto taken = take_in_all(run, damage); !taken) return taken;
        RecordRows rows(db, run);
        Instant last{};
        SQLite::Statement newest(db, "SELECT coalesce(max(time_ns), 0) FROM events WHERE run_id = ?");
        newest.bind(1, run);
        if (newest.executeStep()) last = Instant{Nanoseconds{newest.getColumn(0).getInt64()}};
        for (const std::string& line : damage) rows.append(events::message(last, events::kind::kWarning, line));
        if (ending) rows.append(events::outcome(last, ending->outcome, ending->reason));
        measure::RunResult result = assemble(db, run, Depth::everything);
        if (result.outcome == measure::Outcome::running) {
            rows.append(events::outcome(last, measure::Outcome::interrupted, kNoEnd));
            result.outcome = measure::Outcome::interrupted;
            result.reason = kNoEnd;
        }
        write_metrics(db, run, result);
        set_outcome(db, run, result.outcome, result.reason, true);
        return {};
    }
    /// A full store takes no more rows, but the run must not stay `running`: this overwrites a row in place. Where even
    /// that fails, the next open() finds the journal and does it.
    void close_as_full(std::int64_t run) {
        static_cast<void>(write([&]() -> Result<void> {
            set_outcome(db, run, measure::Outcome::error, std::string{kStoreFull}, false);
            return {};
        }));
    }
    template <class F>
    [[nodiscard]] Result<void> write_run_data(std::int64_t run, F&& f) {
        bool full = false;
        Result<void> done = write([&]() -> Result<void> {
            try {
                return f();
            } catch (const SQLite::Exception& e) {
                full = e.getErrorCode() == SQLITE_FULL;
                throw;
            }
        });
        if (full) close_as_full(run);
        return done;
    }
    /// finish() for the run's owner, and for who finds the run without one.
    Result<void> close(RunId run, const std::optional<Ending>& ending, bool owner) {
        if (auto allowed = writable(); !allowed) return allowed;
        return guarded(path, [&]() -> Result<void> {
            db.exec("PRAGMA synchronous = FULL");  // the journals go afterwards: power may fail in between
            Result<void> done = write_run_data(run.value, [&]() -> Result<void> {
                if (owner)
                    if (auto open = still_open(run.value); !open) return open;
                if (is_complete(db, run.value)) return {};
                return complete(run.value, ending);
            });
            db.exec("PRAGMA synchronous = NORMAL");
            // The run is in: what cannot be cleared away now, the next open() clears away.
            if (done) static_cast<void>(guarded(path, [&] { return remove_journals(run.value); }));
            return done;
        });
    }
    Result<void> remove_journals(std::int64_t run) {
        std::error_code ignored;
        for (const JournalRow& journal : journals_of(db, run)) std::filesystem::remove(journal.path, ignored);
        SQLite::Statement drop(db, "DELETE FROM journals WHERE run_id = ?");
        drop.bind(1, run);
        drop.exec();
        static_cast<void>(db.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)"));
        return {};
    }

    std::filesystem::path path;
    mutable SQLite::Database db;
    bool read_only;
    std::string notice;
};

RunStore::RunStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

Result<RunStore> RunStore::open(const std::filesystem::path& path) {
    auto opened = open_for_writing(path);
    if (!opened) return tl::unexpected(opened.error());
    RunStore store{std::make_unique<State>(path, std::move(*opened))};
    if (!store.read_only())
        if (auto recovered = store.recover(); !recovered) store.state_->notice = recovered.error().message;
    return store;
}

Result<RunStore> RunStore::open_read_only(const std::filesystem::path& path) {
    auto opened = open_for_reading(path);
    if (!opened) return tl::unexpected(opened.error());
    return RunStore{std::make_unique<State>(path, std::move(*opened))};
}

const std::filesystem::path& RunStore::path() const { return state_->path; }
bool RunStore::read_only() const { return state_->read_only; }
const std::string& RunStore::notice() const { return state_->notice; }

Result<RunId> RunStore::begin_run(const RunStart& start) {
    RunId id;
    auto done = state_->write([&]() -> Result<void> {
        SQLite::Statement insert(state_->db, "INSERT INTO runs (uuid, started_utc) VALUES (?, ?)");
        insert.bind(1, start.uuid);
        insert.bind(2, start.started_utc);
        insert.exec();
        id.value = state_->db.getLastInsertRowid();
        add_journal_row(state_->db, id.value, start.journal, start.owner);
        return {};
    });
    if (!done) return tl::unexpected(done.error());
    return id;
}

Result<void> RunStore::add_journal(RunId run, const std::filesystem::path& journal) {
    return state_->write([&]() -> Result<void> {
        SQLite::Statement owner(state_->db,
                                "SELECT pid, process_start, boot_id FROM journals WHERE run_id = ? LIMIT 1");
        owner.bind(1, run.value);
        if (!owner.executeStep()) return state_->error("run " + std::to_string(run.value) + " is not running");
        add_journal_row(state_->db, run.value, journal,
                        {owner.getColumn(0).getInt64(), owner.getColumn(1).getInt64(), owner.getColumn(2).getString()});
        return {};
    });
}

Result<void> RunStore::ingest(RunId run) {
    state_->db.setBusyTimeout(kIngestPatienceMs);
    auto done = state_->write_run_data(run.value, [&]() -> Result<void> {
        if (auto open = state_->still_open(run.value); !open) return open;
        std::vector<std::string> damage;  // said once, by finish()
        return state_->take_in_all(run.value, damage);
    });
    state_->db.setBusyTimeout(kBusyTimeoutMs);
    return done;
}

Result<void> RunStore::finish(RunId run, const std::optional<Ending>& ending) {
    return state_->close(run, ending, true);
}

Result<std::vector<RunId>> RunStore::recover() {
    if (auto allowed = state_->writable(); !allowed) return tl::unexpected(allowed.error());
    return guarded(state_->path, [&]() -> Result<std::vector<RunId>> {
        std::vector<RunId> gone;
        {
            SQLite::Statement query(
                state_->db, "SELECT DISTINCT run_id, pid, process_start, boot_id FROM journals ORDER BY run_id");
            while (query.executeStep()) {
                const ProcessIdentity owner{query.getColumn(1).getInt64(), query.getColumn(2).getInt64(),
                                            query.getColumn(3).getString()};
                if (!is_alive(owner)) gone.push_back(RunId{query.getColumn(0).getInt64()});
            }
        }
        std::erase_if(gone, [&](RunId run) { return state_->has_writer(run); });
        std::optional<Error> first;  // one run that cannot be recovered does not keep the others from it
        for (const RunId run : gone)
            if (auto done = state_->close(run, std::nullopt, false); !done && !first) first = done.error();
        if (first) return tl::unexpected(*first);
        return gone;
    });
}

Result<measure::RunResult> RunStore::load(RunId run) const {
    return guarded(state_->path, [&]() -> Result<measure::RunResult> {
        SQLite::Statement row(state_->db, std::string{kSummaryColumns} + "WHERE id = ?");
        row.bind(1, run.value);
        if (!row.executeStep()) return state_->error("there is no run " + std::to_string(run.value));
        const RunSummary summary = summary_of(row);
        measure::RunResult result = assemble(state_->db, run.value, Depth::everything);
        result.uuid = summary.uuid;
        if (result.started_utc.empty()) result.started_utc = summary.started_utc;
        if (summary.outcome != measure::Outcome::running) {
            result.outcome = summary.outcome;
            result.reason = summary.reason;
        }
        return result;
    });
}

Result<std::vector<RunSummary>> RunStore::list(const ListFilter& filter) const {
    return guarded(state_->path, [&]() -> Result<std::vector<RunSummary>> {
        SQLite::Statement query(state_->db, std::string{kSummaryColumns} +
                                                "WHERE (?1 = '' OR profile_name = ?1) AND (?2 = '' OR outcome = ?2) "
                                                "ORDER BY id DESC LIMIT ?3");
        query.bind(1, filter.profile_name);
        query.bind(2, filter.outcome ? std::string{to_string(*filter.outcome)} : std::string{});
        query.bind(3, filter.newest ? std::int64_t{*filter.newest} : std::int64_t{-1});
        std::vector<RunSummary> runs;
        while (query.executeStep()) runs.push_back(summary_of(query));
        return runs;
    });
}

Result<RunId> RunStore::find(std::string_view text) const {
    return guarded(state_->path, [&]() -> Result<RunId> {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && end == text.data() + text.size()) {
            SQLite::Statement by_id(state_->db, "SELECT 1 FROM runs WHERE id = ?");
            by_id.bind(1, number);
            if (by_id.executeStep()) return RunId{number};
        }
        constexpr std::size_t kShortestPrefix = 4;
        std::vector<RunId> found;
        if (text.size() >= kShortestPrefix) {
            SQLite::Statement by_uuid(state_->db, "SELECT id FROM runs WHERE substr(uuid, 1, length(?1)) = ?1");
            by_uuid.bind(1, std::string{text});
            while (by_uuid.executeStep()) found.push_back(RunId{by_uuid.getColumn(0).getInt64()});
        }
        if (found.size() == 1) return found.front();
        const std::string run{text};
        if (found.empty()) return state_->error("there is no run " + run + ", `gradstorm list` shows the runs");
        return state_->error(run + " fits " + std::to_string(found.size()) + " runs, give more of the uuid");
    });
}

Result<void> RunStore::export_run(RunId run, const std::filesystem::path& file) const {
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown))
        return failure(ErrorCode::store, file.string() + " exists, name a new file");
    auto exported = guarded(state_->path, [&]() -> Result<void> {
        is_complete(state_->db, run.value);  // throws for a run that there is not
        SQLite::Statement copy(state_->db, "VACUUM INTO ?");
        copy.bind(1, file.string());
        copy.exec();
        SQLite::Database out(file.string(), SQLite::OPEN_READWRITE);
        out.exec("PRAGMA foreign_keys = ON");
        SQLite::Statement drop(out, "DELETE FROM runs WHERE id <> ?");
        drop.bind(1, run.value);
        drop.exec();
        out.exec("DELETE FROM journals");
        out.exec("PRAGMA journal_mode = DELETE");  // a reader without the right to write beside it can open it
        out.exec("VACUUM");
        return {};
    });
    std::error_code ignored;
    if (!exported) std::filesystem::remove(file, ignored);
    return exported;
}

Result<void> RunStore::limit_pages(std::uint32_t pages) {
    return guarded(state_->path, [&]() -> Result<void> {
        static_cast<void>(state_->db.execAndGet("PRAGMA max_page_count = " + std::to_string(pages)));
        return {};
    });
}

}  // namespace gradstorm::store
