// SPDX-License-Identifier: Apache-2.0
#include "engine/app/run_recorder.h"

#include "storage/store/run_store.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace gradstorm::app {

/// The store and the run's place in it.
struct RunRecorder::Kept {
    store::RunStore store;
    store::RunId run;
};

RunRecorder::RunRecorder() = default;

RunRecorder::~RunRecorder() {
    if (events_ != nullptr && events_ != stdout) std::fclose(events_);
}

Result<std::unique_ptr<RunRecorder>> RunRecorder::begin(const RecorderOptions& options, const measure::RunResult& run) {
    std::unique_ptr<RunRecorder> recorder{new RunRecorder};
    if (auto opened = recorder->open(options, run); !opened) return tl::unexpected(opened.error());
    recorder->record(events::run_started(Instant{}, run));
    recorder->checkpoint();
    if (!recorder->failure_) return recorder;
    recorder->finish(Instant{}, measure::Outcome::error, recorder->failure_->message);
    return tl::unexpected(*recorder->failure_);
}

Result<void> RunRecorder::open(const RecorderOptions& options, const measure::RunResult& run) {
    if (options.events) {
        if (auto opened = open_events(*options.events); !opened) return opened;
    }
    std::optional<store::RunStore> kept;
    if (options.store) {
        auto store = store::RunStore::open(*options.store);
        if (!store) return tl::unexpected(store.error());
        if (store->read_only()) return gradstorm::failure(ErrorCode::store, store->notice());
        notice_ = store->notice();
        kept.emplace(std::move(*store));
    }
    std::optional<std::filesystem::path> path = options.journal;
    if (!path && options.store) path = options.store->parent_path() / (run.uuid + ".gsjournal");
    if (!path) return {};
    std::error_code nowhere;
    path = std::filesystem::absolute(*path, nowhere);
    if (nowhere) return gradstorm::failure(ErrorCode::store, "the working folder is gone: " + nowhere.message());
    if (kept) {  // before there is a journal: one that no store knows of would stay for ever
        const auto id = kept->begin_run({.uuid = run.uuid, .started_utc = run.started_utc, .journal = *path});
        if (!id) return tl::unexpected(id.error());
        kept_ = std::make_unique<Kept>(Kept{std::move(*kept), *id});
    }
    auto journal = events::JournalWriter::create(*path);
    if (journal) {
        journal_.emplace(std::move(*journal));
        return {};
    }
    if (kept_) {
        const store::Ending ending{measure::Outcome::error, journal.error().message};
        static_cast<void>(kept_->store.finish(kept_->run, ending));
    }
    return tl::unexpected(journal.error());
}

Result<void> RunRecorder::open_events(const std::string& target) {
    events_name_ = target == "-" ? "standard output" : target;
    events_ = target == "-" ? stdout : std::fopen(target.c_str(), "we");
    if (events_ != nullptr) return {};
    return gradstorm::failure(ErrorCode::invalid_input,
                              fmt::format("{}: events cannot be written: {}", target, std::strerror(errno)));
}

void RunRecorder::note(const Result<void>& result) {
    if (!result && !failure_) failure_ = result.error();
}

void RunRecorder::record(const events::Event& event) {
    if (journal_) note(journal_->append(event));
    if (events_ != nullptr) {
        const std::string line = events::to_json_line(event) + "\n";
        if (std::fputs(line.c_str(), events_) < 0 || std::fflush(events_) != 0) {
            note(gradstorm::failure(
                ErrorCode::store, fmt::format("{}: events cannot be written: {}", events_name_, std::strerror(errno))));
        }
    }
    note(assembler_.add(event));
}

void RunRecorder::record(const events::Chunk& chunk) {
    if (journal_) note(journal_->append(chunk));
    note(assembler_.add(chunk));
}

void RunRecorder::checkpoint() {
    if (!kept_) return;
    const auto taken_in = kept_->store.ingest(kept_->run);
    const bool later = !taken_in && taken_in.error().code == ErrorCode::busy;
    if (!later) note(taken_in);
}

void RunRecorder::finish(Instant time, measure::Outcome outcome, const std::string& reason) {
    if (!failure_) record(events::outcome(time, outcome, reason));
    if (failure_) record(events::outcome(time, measure::Outcome::error, failure_->message));
    if (!kept_) return;
    std::optional<store::Ending> ending;
    if (failure_) ending = store::Ending{measure::Outcome::error, failure_->message};
    const auto closed = kept_->store.finish(kept_->run, ending);
    if (closed) {
        stored_as_ = fmt::format("run {} in {}", kept_->run.value, kept_->store.path().string());
        return;
    }
    note(closed);
    record(events::outcome(time, measure::Outcome::error, failure_->message));
    notice_ += fmt::format("\n{}; the run's journal is kept: {}", closed.error().message, journal_->path().string());
}

Result<std::filesystem::path> default_store() {
    constexpr std::string_view kPlace = "gradstorm/runs.db";
    if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
        return std::filesystem::path(data) / kPlace;
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return std::filesystem::path(home) / ".local/share" / kPlace;
    }
    return failure(ErrorCode::store, "no place for the run store: neither XDG_DATA_HOME nor HOME is set; give --store");
}

}  // namespace gradstorm::app
