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
    if (recorder->failure_) return tl::unexpected(*recorder->failure_);
    return recorder;
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
    if (!path && options.store) {
        path = std::filesystem::absolute(*options.store).parent_path() / (run.uuid + ".gsjournal");
    }
    if (!path) return {};
    auto journal = events::JournalWriter::create(*path);
    if (!journal) return tl::unexpected(journal.error());
    journal_.emplace(std::move(*journal));
    if (!kept) return {};
    const auto id = kept->begin_run(
        {.uuid = run.uuid, .started_utc = run.started_utc, .journal = std::filesystem::absolute(*path)});
    if (!id) return tl::unexpected(id.error());
    kept_ = std::make_unique<Kept>(Kept{std::move(*kept), *id});
    return {};
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
    if (kept_) note(kept_->store.ingest(kept_->run));
}

void RunRecorder::finish(Instant time, measure::Outcome outcome, const std::string& reason) {
    if (failure_) {
        record(events::outcome(time, measure::Outcome::error, failure_->message));
    } else {
        record(events::outcome(time, outcome, reason));
    }
    if (!kept_) return;
    std::optional<store::Ending> ending;
    if (failure_) ending = store::Ending{measure::Outcome::error, failure_->message};
    note(kept_->store.finish(kept_->run, ending));
}

std::string RunRecorder::stored_as() const {
    if (!kept_) return {};
    return fmt::format("run {} in {}", kept_->run.value, kept_->store.path().string());
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
