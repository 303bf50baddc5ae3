// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/session.h"

#include "engine/replay/session_results.h"
#include "engine/replay/session_setup.h"
#include "engine/replay/session_state.h"
#include "engine/replay/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace gradstorm::replay {

namespace {

SessionObserver& silent_observer() {
    static SessionObserver observer;
    return observer;
}

/// Runs the segments of a prepared session, one after the other.
class SegmentRunner {
public:
    explicit SegmentRunner(Session::State& state)
        : state_(&state), results_(state), observer_(*state.around.observer) {}

    void run() {
        SessionReport& report = state_->report;
        std::vector<Worker*> workers;
        workers.reserve(state_->workers.size());
        for (const auto& worker : state_->workers) workers.push_back(worker.get());
        if (auto started = driver().start(workers); !started) {
            fail(started.error());
        } else {
            report.outcome = measure::Outcome::pass;
            for (const Segment& segment : state_->segments) {
                if (!run_segment(segment)) break;
            }
        }
        results_.finish();
        if (report.outcome == measure::Outcome::pass && results_.wrong_elements() != 0) {
            report.outcome = measure::Outcome::fail;
            report.reason = fmt::format("{} wrong elements", results_.wrong_elements());
        }
    }

private:
    [[nodiscard]] Driver& driver() const { return *state_->around.driver; }
    [[nodiscard]] cluster::Rendezvous& rendezvous() const { return *state_->around.rendezvous; }

    /// False: the run ends here.
    bool run_segment(const Segment& segment) {
        if (state_->report.measurements.size() <= segment.measurement) begin_measurement(segment.measurement);
        prepare(segment);
        if (!meet(segment)) return false;
        results_.begin_segment(segment);
        observer_.segment_started(driver().now(), segment);

        Watchdog watchdog(watchdog_settings(segment), state_->workers, rendezvous());
        const auto driven = driver().run([&](Instant now) {
            observer_.progress(now, segment, share(segment));
            return watchdog.look(now);
        });
        const Instant now = driver().now();
        const bool finished = driven.has_value() && watchdog.ending() == Ending::finished;
        if (driven) results_.end_segment(segment, !finished, now);  // else a worker may still write what it reads
        if (!finished) explain(driven, watchdog, segment, now);
        observer_.segment_finished(now, segment, state_->report.measurements[segment.measurement],
                                   results_.segment_latency());
        if (segment.measured) observer_.counters(now, state_->report.ports);
        segments_done_ += finished ? 1 : 0;
        return finished;
    }

    void begin_measurement(std::uint32_t measurement) {
        results_.begin_measurement(measurement);
        observer_.measurement_started(driver().now(), measurement, state_->report.measurements[measurement]);
        if (state_->options.payload == Payload::memory) fill_sources(measurement);
    }

    void fill_sources(std::uint32_t measurement) {
        const auto& jobs = state_->workload().measurements[measurement].jobs;
        for (auto& [rank, arena] : state_->arenas) {
            std::uint32_t index = 0;
            for (std::uint32_t job = 0; job < jobs.size(); ++job) {
                for (std::uint32_t c = 0; c < jobs[job].calls.size(); ++c, ++index) {
                    const workload::PlannedCall& planned = jobs[job].calls[c];
                    const auto local = local_rank(planned.group, rank);
                    if (!local) continue;
                    const std::uint64_t offset = state_->layout->offsets(measurement, job, c, rank).source;
                    const std::uint64_t length = collective::buffer_sizes(planned.call, *local).source.value;
                    memory::fill_pattern(arena.buffer.bytes().subspan(offset, length),
                                         state_->patterns->source(planned.call, *local, index), 0);
                }
            }
        }
    }

    void prepare(const Segment& segment) {
        for (std::size_t i = 0; i < state_->workers.size(); ++i) {
            measure::Histogram* latency = segment.measured ? state_->latency[i].get() : nullptr;
            for (const auto& executor : state_->workers[i]->executors()) executor->prepare(segment, latency);
            state_->workers[i]->begin_segment(segment.measured);
        }
    }

    [[nodiscard]] bool stop_wanted() const {
        return state_->options.stop != nullptr && state_->options.stop->load(std::memory_order_relaxed) != 0;
    }

    /// All processes begin a segment together, or none does.
    bool meet(const Segment& segment) {
        const std::string phase = fmt::format("begin of {}", name_of(segment));
        if (auto begun = rendezvous().begin(phase, stop_wanted() ? "stop" : ""); !begun) return fail(begun.error());
        std::optional<Error> error;
        cluster::Blobs blobs;
        const Instant limit = driver().now() + state_->options.setup_timeout;
        driver().wait([&](Instant now) -> MonitorResult {
            auto polled = rendezvous().poll();
            if (!polled) {
                error = polled.error();
            } else if (*polled) {
                blobs = std::move(**polled);
            } else if (now >= limit) {
                error = Error{ErrorCode::timeout, fmt::format("not all processes reached the {}", phase)};
            } else {
                return {.done = false, .deadline = limit};
            }
            return {.done = true, .deadline = kNoDeadline};
        });
        if (error) return fail(*error);
        if (std::find(blobs.begin(), blobs.end(), "stop") == blobs.end()) return true;
        interrupt(fmt::format("stopped before {}", name_of(segment)));
        return false;
    }

    [[nodiscard]] std::string name_of(const Segment& segment) const {
        const std::string& label = state_->workload().measurements[segment.measurement].label;
        return segment.measured ? fmt::format("repetition {} of {}", segment.repetition, label)
                                : fmt::format("warm-up of {}", label);
    }

    [[nodiscard]] Watchdog::Settings watchdog_settings(const Segment& segment) const {
        return {.stall_timeout = state_->options.stall_timeout,
                .stop_timeout = state_->options.stop_timeout,
                .stop = state_->options.stop,
                .phase = fmt::format("end of {}", name_of(segment))};
    }

    [[nodiscard]] double share(const Segment& segment) const {
        std::uint32_t slowest = segment.iterations;
        for (const auto& worker : state_->workers) {
            for (const auto& executor : worker->executors()) slowest = std::min(slowest, executor->iteration());
        }
        const double within = static_cast<double>(slowest) / static_cast<double>(segment.iterations);
        return (static_cast<double>(segments_done_) + within) / static_cast<double>(state_->segments.size());
    }

    bool fail(const Error& error) {
        SessionReport& report = state_->report;
        report.outcome = measure::Outcome::error;
        report.error = error;
        report.reason = error.message;
        rendezvous().abandon(error.message);
        return false;
    }

    void interrupt(std::string reason) {
        state_->report.outcome = measure::Outcome::interrupted;
        state_->report.reason = std::move(reason);
    }

    void note(Instant now, std::string_view kind, std::string text) {
        state_->report.events.push_back({now.time_since_epoch().count(), std::string(kind), std::move(text)});
        observer_.event(state_->report.events.back());
    }

    void explain(const Result<void>& driven, const Watchdog& watchdog, const Segment& segment, Instant now) {
        if (!driven) {
            fail(driven.error());
            return;
        }
        switch (watchdog.ending()) {
            case Ending::aborted:
                interrupt(fmt::format("aborted in {}", name_of(segment)));
                rendezvous().abandon("interrupted by the user");
                break;
            case Ending::peer_lost: fail(*watchdog.error()); break;
            case Ending::failed: explain_failure(segment, now); break;
            case Ending::stalled: explain_stall(segment, now); break;
            case Ending::running:
            case Ending::finished: break;
        }
    }

    void gather_waits() {
        for (const auto& worker : state_->workers) {
            for (const auto& executor : worker->executors()) executor->report_waits(state_->report.waits);
        }
    }

    void explain_stall(const Segment& segment, Instant now) {
        SessionReport& report = state_->report;
        gather_waits();
        report.culprit = culprit_of(report.waits);
        for (const WaitFor& wait : report.waits) note(now, "stall", to_string(wait));
        const double seconds = static_cast<double>(state_->options.stall_timeout.count()) / 1e9;
        std::string text = fmt::format("no progress for {} s in {}", seconds, name_of(segment));
        const auto names_culprit = [&](const WaitFor& wait) { return wait.peer == report.culprit; };
        const auto wait = std::find_if(report.waits.begin(), report.waits.end(), names_culprit);
        if (wait != report.waits.end()) {
            text += fmt::format(": {}; rank {} is silent", to_string(*wait), *report.culprit);
        } else if (report.waits.empty()) {
            text += ": no rank of this process waits for another, so another process is silent";
        }
        fail({ErrorCode::timeout, text});
    }

    void explain_failure(const Segment& segment, Instant now) {
        SessionReport& report = state_->report;
        gather_waits();
        std::vector<WaitFor> evidence = report.waits;
        std::string first;
        std::string flushed;  // the first of those that fell with another: its queue pair knows why
        for (const auto& worker : state_->workers) {
            for (const WorkerFailure& failure : worker->failures()) {
                const std::string text = words_for(failure, worker->endpoint());
                if (failure.status == transport::CompletionStatus::flushed) {
                    if (flushed.empty()) flushed = text;
                    continue;
                }
                if (first.empty()) first = text;
                note(now, "fault", text);
                evidence.push_back(
                    {failure.rank, failure.peer, failure.channel, 0, WaitKind::acknowledgement, "", Instant::min()});
            }
        }
        if (first.empty()) {
            first = flushed;
            note(now, "fault", first);
        }
        for (const WaitFor& wait : report.waits) note(now, "stall", to_string(wait));
        report.culprit = culprit_of(evidence);
        std::string text = fmt::format("{} in {}", first, name_of(segment));
        // Of two ranks, both are at an end of everything.
        if (report.culprit && state_->options.ranks.size() > 2) {
            text += fmt::format("; rank {} is the one in common", *report.culprit);
        }
        fail({ErrorCode::device, text});
    }

    static std::string words_for(const WorkerFailure& failure, const transport::Endpoint& endpoint) {
        std::string text = fmt::format("rank {} to rank {}, channel {}, queue pair {}: ", failure.rank, failure.peer,
                                       failure.channel, failure.queue_pair);
        if (!failure.what.empty()) return text + failure.what;
        return text +
               fmt::format("{} ({})", transport::to_string(failure.status), endpoint.describe(failure.queue_pair));
    }

    Session::State* state_;
    ResultCollector results_;
    SessionObserver& observer_;
    std::size_t segments_done_ = 0;
};

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::create(const SessionOptions& options, const Surroundings& surroundings) {
    auto state = std::make_unique<State>();
    state->options = options;
    state->around = surroundings;
    if (state->around.observer == nullptr) state->around.observer = &silent_observer();
    if (auto ready = SessionSetup(*state).run(); !ready) {
        surroundings.rendezvous->abandon(ready.error().message);
        return tl::unexpected(ready.error());
    }
    return std::unique_ptr<Session>(new Session(std::move(state)));
}

SessionReport Session::run() {
    SegmentRunner(*state_).run();
    return std::move(state_->report);
}

}  // namespace gradstorm::replay
