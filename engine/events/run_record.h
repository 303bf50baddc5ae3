// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/events/journal.h"
#include "engine/measure/run_result.h"

#include <cstdint>
#include <span>
#include <string_view>

/// A run as records: what the engine appends to its journal as things become known, and how a RunResult is rebuilt from
/// it. The store, `show`, attach and crash recovery all use RunAssembler: there is one way from journal to result.
/// docs/events.md lists the kinds and their fields.
namespace gradstorm::events {

namespace kind {
inline constexpr std::string_view kRunStarted = "run_started";
inline constexpr std::string_view kMeasurementStarted = "measurement_started";
inline constexpr std::string_view kRepetitionStarted = "repetition_started";
inline constexpr std::string_view kRepetitionFinished = "repetition_finished";
inline constexpr std::string_view kCheckResult = "check_result";
inline constexpr std::string_view kWarning = "warning";
inline constexpr std::string_view kFault = "fault";
inline constexpr std::string_view kStall = "stall";
inline constexpr std::string_view kCounters = "counters";
inline constexpr std::string_view kRankResults = "rank_results";
inline constexpr std::string_view kSelfCheck = "self_check";
inline constexpr std::string_view kOutcome = "outcome";
}  // namespace kind

/// The first event of a run: identity, profile, settings, environment, device under test, disclosures; nothing
/// measured. started_utc and environment are the only fields that depend on host and time; leave them empty in virtual
/// time.
[[nodiscard]] Event run_started(Instant time, const measure::RunResult& run);
/// Announces measurement `index` and its calls. Measurements are announced in order, from 0.
[[nodiscard]] Event measurement_started(Instant time, std::uint32_t index,
                                        const measure::MeasurementResult& measurement);
[[nodiscard]] Event repetition_started(Instant time, std::uint32_t measurement, std::uint32_t repetition);
[[nodiscard]] Event repetition_finished(Instant time, std::uint32_t measurement, std::uint32_t repetition);
/// Wrong elements that were found in the call's results; those of several records add up.
[[nodiscard]] Event check_result(Instant time, std::uint32_t measurement, std::uint32_t call,
                                 std::uint64_t wrong_elements);
/// A line for people: kind::kWarning, kind::kFault, kind::kStall ("rank R waits for rank P, channel C, step S").
[[nodiscard]] Event message(Instant time, std::string_view kind, std::string_view text);
/// Totals so far; a later record replaces the earlier one of the same port.
[[nodiscard]] Event counters(Instant time, std::span<const measure::PortResult> ports);
[[nodiscard]] Event rank_results(Instant time, std::span<const measure::RankResult> ranks);
[[nodiscard]] Event self_check(Instant time, const measure::SelfCheck& check);
[[nodiscard]] Event outcome(Instant time, measure::Outcome outcome, std::string_view reason);

/// Completion times of one repetition of a call, one an iteration. Repetitions of a call come in order, from 0.
[[nodiscard]] Chunk completion_times(std::uint32_t measurement, std::uint32_t call, std::uint32_t repetition,
                                     std::span<const std::int64_t> nanoseconds);
[[nodiscard]] Chunk iteration_times(std::uint32_t measurement, std::uint32_t repetition,
                                    std::span<const std::int64_t> nanoseconds);
/// Message latencies; those of several records of a measurement are merged.
[[nodiscard]] Chunk message_latency(std::uint32_t measurement, const measure::Histogram& histogram);

/// Appends a whole result, as a run would have written it.
[[nodiscard]] Result<void> append_result(JournalWriter& journal, Instant end, const measure::RunResult& run);

/// Rebuilds the result of a run from its records, in the order of the journal; of several processes, one journal after
/// the other: completion and iteration times of the same iteration then become the larger of both (slowest rank), wrong
/// elements add, histograms merge, the graver outcome stands. Without an outcome event of each process that started,
/// the outcome is `running` where it were `pass`.
class RunAssembler {
public:
    /// An error names the kind and what is wrong with it; the result stays as it was before that record. An event of a
    /// kind not known here is kept in RunResult::events with its fields as text.
    [[nodiscard]] Result<void> add(const Event& event);
    [[nodiscard]] Result<void> add(const Chunk& chunk);
    [[nodiscard]] const measure::RunResult& result() const { return result_; }

private:
    measure::RunResult result_;
    bool self_checked_ = false;
    std::int64_t under_way_ = 0;  ///< processes that started and have no outcome yet
};

}  // namespace gradstorm::events
