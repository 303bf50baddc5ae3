// SPDX-License-Identifier: Apache-2.0
#include "engine/events/run_record.h"

#include "engine/measure/port_counters.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace gradstorm::events {
namespace {

using Json = nlohmann::ordered_json;

Event event(Instant time, std::string_view kind, const Json& fields) {
    return {time, std::string{kind}, fields.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Json object_of(const measure::KeyValues& pairs) {
    Json object = Json::object();
    for (const auto& [key, value] : pairs) object[key] = value;
    return object;
}

template <class T>
Json optional(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json fields_of(const measure::CallResult& call) {
    return {{"label", call.label},         {"kind", to_string(call.kind)}, {"type", to_string(call.type)},
            {"algorithm", call.algorithm}, {"ranks", call.ranks},          {"root", call.root},
            {"bytes", call.bytes},         {"ideal_ns", call.ideal_ns},    {"ideal_bound", call.ideal_bound}};
}

Json fields_of(const measure::PortResult& port) {
    Json fields{{"name", port.name}, {"rank", port.rank}};
    for (const measure::PortCounter& counter : measure::kPortCounters)
        fields[std::string{counter.name}] = port.*counter.value;
    fields["communicating_ns"] = port.communicating_ns;
    return fields;
}

Chunk times(ChunkKind kind, std::uint32_t measurement, std::uint32_t call, std::uint32_t repetition,
            std::span<const std::int64_t> nanoseconds) {
    Chunk chunk{kind, measurement, call, repetition, {}};
    chunk.values.reserve(nanoseconds.size());
    for (const std::int64_t t : nanoseconds) chunk.values.push_back(static_cast<std::uint64_t>(t));
    return chunk;
}

}  // namespace

Event run_started(Instant time, const measure::RunResult& run) {
    Json fields{{"uuid", run.uuid},
                {"version", run.version},
                {"profile_name", run.profile_name},
                {"profile_sha256", run.profile_sha256},
                {"profile_text", run.profile_text},
                {"schedule_hash", run.schedule_hash},
                {"seed", run.seed},
                {"ranks", run.ranks},
                {"path_mtu", run.path_mtu},
                {"engine", run.engine},
                {"payload", run.payload},
                {"fidelity", run.fidelity},
                {"ipv6", run.ipv6},
                {"line_rate_bits_per_s", optional(run.line_rate_bits_per_s)},
                {"disclosures", run.disclosures},
                {"settings", object_of(run.settings)},
                {"dut", object_of(run.dut)}};
    if (!run.started_utc.empty()) fields["started_utc"] = run.started_utc;
    if (!run.environment.empty()) fields["environment"] = object_of(run.environment);
    return event(time, kind::kRunStarted, fields);
}

Event measurement_started(Instant time, std::uint32_t index, const measure::MeasurementResult& measurement) {
    Json calls = Json::array();
    for (const measure::CallResult& call : measurement.calls) calls.push_back(fields_of(call));
    return event(time, kind::kMeasurementStarted,
                 {{"measurement", index}, {"label", measurement.label}, {"calls", std::move(calls)}});
}

Event repetition_started(Instant time, std::uint32_t measurement, std::uint32_t repetition) {
    return event(time, kind::kRepetitionStarted, {{"measurement", measurement}, {"repetition", repetition}});
}

Event repetition_finished(Instant time, std::uint32_t measurement, std::uint32_t repetition) {
    return event(time, kind::kRepetitionFinished, {{"measurement", measurement}, {"repetition", repetition}});
}

Event check_result(Instant time, std::uint32_t measurement, std::uint32_t call, std::uint64_t wrong_elements) {
    return event(time, kind::kCheckResult,
                 {{"measurement", measurement}, {"call", call}, {"wrong_elements", wrong_elements}});
}

Event message(Instant time, std::string_view kind, std::string_view text) {
    return event(time, kind, {{"text", text}});
}

Event counters(Instant time, std::span<const measure::PortResult> ports) {
    Json list = Json::array();
    for (const measure::PortResult& port : ports) list.push_back(fields_of(port));
    return event(time, kind::kCounters, {{"ports", std::move(list)}});
}

Event rank_results(Instant time, std::span<const measure::RankResult> ranks) {
    Json list = Json::array();
    for (const measure::RankResult& rank : ranks)
        list.push_back({{"rank", rank.rank},
                        {"worker", rank.worker},
                        {"mean_lateness_ns", optional(rank.mean_lateness_ns)},
                        {"max_lateness_ns", optional(rank.max_lateness_ns)}});
    return event(time, kind::kRankResults, {{"ranks", std::move(list)}});
}

Event self_check(Instant time, const measure::SelfCheck& check) {
    return event(time, kind::kSelfCheck,
                 {{"busy_share", optional(check.busy_share)},
                  {"late_steps", optional(check.late_steps)},
                  {"longest_gap_ns", optional(check.longest_gap_ns)},
                  {"send_refusals", check.send_refusals},
                  {"lost_frames", check.lost_frames},
                  {"ring_high_water", optional(check.ring_high_water)},
                  {"clock_residual_ppm", optional(check.clock_residual_ppm)},
                  {"clock", check.clock},
                  {"verdict", check.verdict}});
}

Event outcome(Instant time, measure::Outcome outcome, std::string_view reason) {
    return event(time, kind::kOutcome, {{"outcome", to_string(outcome)}, {"reason", reason}});
}

Chunk completion_times(std::uint32_t measurement, std::uint32_t call, std::uint32_t repetition,
                       std::span<const std::int64_t> nanoseconds) {
    return times(ChunkKind::completion_times, measurement, call, repetition, nanoseconds);
}

Chunk iteration_times(std::uint32_t measurement, std::uint32_t repetition, std::span<const std::int64_t> nanoseconds) {
    return times(ChunkKind::iteration_times, measurement, 0, repetition, nanoseconds);
}

Chunk message_latency(std::uint32_t measurement, const measure::Histogram& histogram) {
    Chunk chunk{ChunkKind::histogram_counts, measurement, 0, 0, {}};
    const auto counts = histogram.counts();
    for (std::size_t bucket = 0; bucket < counts.size(); ++bucket)
        if (counts[bucket] != 0) chunk.values.insert(chunk.values.end(), {bucket, counts[bucket]});
    return chunk;
}

Result<void> append_result(JournalWriter& journal, Instant end, const measure::RunResult& run) {
    std::vector<Event> tail;
    Result<void> done = journal.append(run_started(Instant{}, run));
    for (std::uint32_t m = 0; done && m < run.measurements.size(); ++m) {
        const auto& measurement = run.measurements[m];
        done = journal.append(measurement_started(end, m, measurement));
        for (std::uint32_t r = 0; done && r < measurement.iteration_ns.size(); ++r)
            done = journal.append(iteration_times(m, r, measurement.iteration_ns[r]));
        for (std::uint32_t c = 0; done && c < measurement.calls.size(); ++c) {
            const auto& call = measurement.calls[c];
            for (std::uint32_t r = 0; done && r < call.completion_ns.size(); ++r)
                done = journal.append(completion_times(m, c, r, call.completion_ns[r]));
            if (call.wrong_elements) tail.push_back(check_result(end, m, c, *call.wrong_elements));
        }
        if (done && measurement.message_latency.count() != 0)
            done = journal.append(message_latency(m, measurement.message_latency));
    }
    for (const auto& e : run.events)
        if (e.kind != kind::kOutcome) tail.push_back(message(Instant{Nanoseconds{e.time_ns}}, e.kind, e.text));
    if (!run.ports.empty()) tail.push_back(counters(end, run.ports));
    if (!run.rank_results.empty()) tail.push_back(rank_results(end, run.rank_results));
    if (!run.self_check.clock.empty()) tail.push_back(self_check(end, run.self_check));
    if (run.outcome != measure::Outcome::running) tail.push_back(outcome(end, run.outcome, run.reason));
    for (const Event& e : tail)
        if (done) done = journal.append(e);
    return done;
}

}  // namespace gradstorm::events
