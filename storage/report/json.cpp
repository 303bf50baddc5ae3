// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"
#include "engine/measure/port_counters.h"
#include "engine/measure/summary.h"
#include "storage/report/format.h"
#include "storage/report/report.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace gradstorm::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

/// The value, or null and beside it why.
template <class T>
void put(Json& object, const std::string& key, const std::optional<T>& value, const char* reason) {
    bool measured = value.has_value();
    if constexpr (std::is_floating_point_v<T>) measured = measured && std::isfinite(*value);
    if (measured) {
        object[key] = *value;
    } else {
        object[key] = nullptr;
        object[key + "_reason"] = reason;
    }
}

Json object_of(const measure::KeyValues& pairs) {
    Json object = Json::object();
    for (const auto& [key, value] : pairs) object[key] = value;
    return object;
}

constexpr const char* kNoIterations = "no iteration was measured";

Json summary_of(const std::vector<std::vector<std::int64_t>>& repetitions) {
    const auto s = measure::summarise_all(repetitions);
    Json object{{"samples", s ? s->count : 0}};
    using Value = std::optional<std::int64_t>;
    put(object, "min_ns", s ? Value{s->min} : std::nullopt, kNoIterations);
    put(object, "mean_ns", s ? std::optional{s->mean} : std::nullopt, kNoIterations);
    put(object, "median_ns", s ? Value{s->median.value} : std::nullopt, kNoIterations);
    put(object, "max_ns", s ? Value{s->max} : std::nullopt, kNoIterations);
    put(object, "cv", s ? s->cv : std::nullopt, "fewer than two iterations");
    const auto quantile = [&](const char* key, const measure::Quantile* q) {
        put(object, key, q != nullptr && q->trusted ? Value{q->value} : std::nullopt, "too few samples");
    };
    quantile("p90_ns", s ? &s->p90 : nullptr);
    quantile("p99_ns", s ? &s->p99 : nullptr);
    quantile("p99_9_ns", s ? &s->p999 : nullptr);
    object["by_repetition_ns"] = repetitions;
    return object;
}

Json call_of(const measure::CallResult& call) {
    const auto times = measure::summarise_all(call.completion_ns);
    const double median = times ? static_cast<double>(times->median.value) : 0;
    const double mean = times ? times->mean : 0;
    Json object{{"label", call.label},         {"kind", to_string(call.kind)}, {"type", to_string(call.type)},
                {"algorithm", call.algorithm}, {"ranks", call.ranks},          {"root", call.root},
                {"size_bytes", call.bytes}};
    object["completion"] = summary_of(call.completion_ns);
    put(object, "algbw_gbytes_per_s", measure::algorithm_gbytes_per_s(call.bytes, median), kNoIterations);
    put(object, "busbw_gbytes_per_s", measure::bus_gbytes_per_s(call.kind, call.ranks, call.bytes, median),
        kNoIterations);
    put(object, "algbw_of_mean_gbytes_per_s", measure::algorithm_gbytes_per_s(call.bytes, mean), kNoIterations);
    put(object, "busbw_of_mean_gbytes_per_s", measure::bus_gbytes_per_s(call.kind, call.ranks, call.bytes, mean),
        kNoIterations);
    const bool ideal = call.ideal_ns > 0;
    put(object, "ideal_ns", ideal ? std::optional{call.ideal_ns} : std::nullopt, "the line rate is unknown");
    put(object, "ideal_percent", ideal ? measure::percent_of(static_cast<double>(call.ideal_ns), median) : std::nullopt,
        ideal ? kNoIterations : "the line rate is unknown");
    object["ideal_bound"] = call.ideal_bound;
    put(object, "wrong_elements", call.wrong_elements, "the results were not checked");
    return object;
}

Json latency_of(const measure::Histogram& h) {
    Json object{{"samples", h.count()}};
    const struct {
        const char* key;
        double fraction;
    } quantiles[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p99_9_ns", 0.999}, {"p99_99_ns", 0.9999}};
    for (const auto& q : quantiles)
        put(object, q.key, h.enough_for(q.fraction) ? h.quantile(q.fraction) : std::nullopt, "too few samples");
    put(object, "min_ns", h.min(), "no message was measured");
    put(object, "max_ns", h.max(), "no message was measured");
    return object;
}

Json port_of(const measure::RunResult& run, const measure::PortResult& port) {
    Json object{{"name", port.name}, {"rank", port.rank}};
    for (const auto& counter : measure::kPortCounters) object[std::string{counter.name}] = port.*counter.value;
    const bool communicated = port.communicating_ns > 0;
    put(object, "communicating_ns", communicated ? std::optional{port.communicating_ns} : std::nullopt,
        "the port had no call in progress");
    std::optional<double> goodput;
    if (const auto rate = measure::rate_of(port.payload_bytes, static_cast<double>(port.communicating_ns)))
        goodput = rate->value;
    put(object, "goodput_bits_per_s", goodput, "the port had no call in progress");
    std::optional<double> ceiling;
    if (run.line_rate_bits_per_s)
        ceiling = *run.line_rate_bits_per_s * measure::goodput_fraction(run.path_mtu, run.ipv6);
    put(object, "ceiling_bits_per_s", ceiling, "the line rate is unknown");
    put(object, "ceiling_percent", goodput && ceiling ? measure::percent_of(*goodput, *ceiling) : std::nullopt,
        ceiling ? "the port had no call in progress" : "the line rate is unknown");
    return object;
}

Json self_check_of(const measure::SelfCheck& check) {
    if (check.clock.empty()) return nullptr;
    Json object{{"verdict", check.verdict}, {"clock", check.clock}};
    constexpr auto kNoSteps = "no worker was timed";
    put(object, "busy_share", check.busy_share, kNoSteps);
    put(object, "late_steps", check.late_steps, kNoSteps);
    put(object, "longest_gap_ns", check.longest_gap_ns, kNoSteps);
    object["send_refusals"] = check.send_refusals;
    object["lost_frames"] = check.lost_frames;
    put(object, "ring_high_water", check.ring_high_water, "the port does not tell");
    put(object, "clock_residual_ppm", check.clock_residual_ppm, "the clock was not calibrated");
    return object;
}

Json run_of(const measure::RunResult& run) {
    Json object{{"uuid", run.uuid}};
    put(object, "started_utc", run.started_utc.empty() ? std::nullopt : std::optional{run.started_utc}, "virtual time");
    object["outcome"] = to_string(run.outcome);
    object["exit_code"] = exit_code(run.outcome);
    object["reason"] = run.reason;
    object["version"] = run.version;
    object["profile_name"] = run.profile_name;
    object["profile_sha256"] = run.profile_sha256;
    object["schedule_hash"] = run.schedule_hash;
    object["seed"] = run.seed;
    object["ranks"] = run.ranks;
    object["path_mtu_bytes"] = run.path_mtu;
    object["engine"] = run.engine;
    object["payload"] = run.payload;
    object["fidelity"] = run.fidelity;
    put(object, "line_rate_bits_per_s", run.line_rate_bits_per_s, "not given in the profile");
    object["disclosures"] = run.disclosures;
    return object;
}

}  // namespace

std::string json(const measure::RunResult& run) {
    Json document{{"format", "gradstorm-run"}, {"format_version", kFormatVersion}, {"run", run_of(run)}};
    document["settings"] = object_of(run.settings);
    document["environment"] = object_of(run.environment);
    document["dut"] = object_of(run.dut);
    Json& measurements = document["measurements"] = Json::array();
    for (const auto& m : run.measurements) {
        Json calls = Json::array();
        for (const auto& call : m.calls) calls.push_back(call_of(call));
        measurements.push_back({{"label", m.label},
                                {"iteration", summary_of(m.iteration_ns)},
                                {"message_latency", latency_of(m.message_latency)},
                                {"calls", std::move(calls)}});
    }
    Json& ports = document["ports"] = Json::array();
    for (const auto& port : run.ports) ports.push_back(port_of(run, port));
    Json& ranks = document["ranks"] = Json::array();
    for (const auto& rank : run.rank_results) {
        Json object{{"rank", rank.rank}, {"worker", rank.worker}};
        put(object, "mean_lateness_ns", rank.mean_lateness_ns, "no iteration of all ranks was measured");
        put(object, "max_lateness_ns", rank.max_lateness_ns, "no iteration of all ranks was measured");
        ranks.push_back(std::move(object));
    }
    document["self_check"] = self_check_of(run.self_check);
    if (document["self_check"].is_null()) document["self_check_reason"] = "the run did not get that far";
    Json& events = document["events"] = Json::array();
    for (const auto& e : run.events) events.push_back({{"time_ns", e.time_ns}, {"kind", e.kind}, {"text", e.text}});
    document["profile_text"] = run.profile_text;
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace gradstorm::report
