// SPDX-License-Identifier: Apache-2.0
#include "engine/events/run_record.h"
#include "engine/measure/port_counters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradstorm::events {
namespace {

using Json = nlohmann::ordered_json;

/// What an assembler cannot use. Never leaves this file.
struct Unusable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T>
T field(const Json& fields, const char* name) {
    const auto found = fields.find(name);
    if (found == fields.end()) throw Unusable(std::string{"it has no field \""} + name + '"');
    return found->get<T>();
}

template <class T>
std::optional<T> optional_field(const Json& fields, const char* name) {
    const auto found = fields.find(name);
    if (found == fields.end() || found->is_null()) return std::nullopt;
    return found->get<T>();
}

measure::KeyValues pairs_field(const Json& fields, const char* name) {
    measure::KeyValues pairs;
    const auto found = fields.find(name);
    if (found == fields.end()) return pairs;
    for (const auto& [key, value] : found->items()) pairs.emplace_back(key, value.get<std::string>());
    return pairs;
}

template <class T, class Parse>
T parsed_field(const Json& fields, const char* name, Parse parse) {
    const auto text = field<std::string>(fields, name);
    const std::optional<T> value = parse(text);
    if (!value) throw Unusable(std::string{"its "} + name + " \"" + text + "\" is unknown");
    return *value;
}

template <class Item>
Item& at(std::vector<Item>& items, std::uint64_t index, const char* what) {
    if (index >= items.size()) throw Unusable(std::string{what} + ' ' + std::to_string(index) + " was not announced");
    return items[static_cast<std::size_t>(index)];
}

void start_run(measure::RunResult& run, const Json& f) {
    const auto uuid = field<std::string>(f, "uuid");
    if (!run.uuid.empty()) {  // the journal of a further process of the same run
        if (run.uuid != uuid) throw Unusable("run " + uuid + " is not run " + run.uuid);
        return;
    }
    measure::RunResult fresh = run;  // events may stand before it
    fresh.uuid = uuid;
    fresh.started_utc = optional_field<std::string>(f, "started_utc").value_or("");
    fresh.version = field<std::string>(f, "version");
    fresh.profile_name = field<std::string>(f, "profile_name");
    fresh.profile_sha256 = field<std::string>(f, "profile_sha256");
    fresh.profile_text = field<std::string>(f, "profile_text");
    fresh.schedule_hash = field<std::string>(f, "schedule_hash");
    fresh.seed = field<std::uint64_t>(f, "seed");
    fresh.ranks = field<std::uint32_t>(f, "ranks");
    fresh.path_mtu = field<std::uint32_t>(f, "path_mtu");
    fresh.engine = field<std::string>(f, "engine");
    fresh.payload = field<std::string>(f, "payload");
    fresh.fidelity = field<std::string>(f, "fidelity");
    fresh.ipv6 = optional_field<bool>(f, "ipv6").value_or(false);
    fresh.line_rate_bits_per_s = optional_field<double>(f, "line_rate_bits_per_s");
    fresh.disclosures = field<std::vector<std::string>>(f, "disclosures");
    fresh.settings = pairs_field(f, "settings");
    fresh.environment = pairs_field(f, "environment");
    fresh.dut = pairs_field(f, "dut");
    run = std::move(fresh);
}

measure::CallResult call_of(const Json& f) {
    measure::CallResult call;
    call.label = field<std::string>(f, "label");
    call.kind = parsed_field<measure::CollectiveKind>(f, "kind", measure::parse_collective_kind);
    call.type = parsed_field<measure::DataType>(f, "type", measure::parse_data_type);
    call.algorithm = field<std::string>(f, "algorithm");
    call.ranks = field<std::uint32_t>(f, "ranks");
    call.root = field<std::uint32_t>(f, "root");
    call.bytes = field<std::uint64_t>(f, "bytes");
    call.ideal_ns = field<std::int64_t>(f, "ideal_ns");
    call.ideal_bound = field<std::string>(f, "ideal_bound");
    return call;
}

void start_measurement(measure::RunResult& run, const Json& f) {
    const auto index = field<std::uint32_t>(f, "measurement");
    if (index < run.measurements.size()) return;  // announced by another process of the run
    if (index > run.measurements.size()) throw Unusable("measurement " + std::to_string(index) + " comes out of order");
    measure::MeasurementResult measurement;
    measurement.label = field<std::string>(f, "label");
    for (const Json& call : f.at("calls")) measurement.calls.push_back(call_of(call));
    run.measurements.push_back(std::move(measurement));
}

void add_check(measure::RunResult& run, const Json& f) {
    auto& measurement = at(run.measurements, field<std::uint32_t>(f, "measurement"), "measurement");
    auto& call = at(measurement.calls, field<std::uint32_t>(f, "call"), "call");
    call.wrong_elements = call.wrong_elements.value_or(0) + field<std::uint64_t>(f, "wrong_elements");
}

void add_ports(measure::RunResult& run, const Json& f) {
    std::vector<measure::PortResult> ports = run.ports;
    for (const Json& p : f.at("ports")) {
        measure::PortResult port;
        port.name = field<std::string>(p, "name");
        port.rank = field<std::uint32_t>(p, "rank");
        for (const auto& counter : measure::kPortCounters)
            port.*counter.value = field<std::uint64_t>(p, std::string{counter.name}.c_str());
        port.communicating_ns = field<std::int64_t>(p, "communicating_ns");
        const auto same = std::find_if(ports.begin(), ports.end(), [&](const auto& o) { return o.name == port.name; });
        if (same == ports.end()) {
            ports.push_back(std::move(port));
        } else {
            *same = std::move(port);
        }
    }
    run.ports = std::move(ports);
}

void add_ranks(measure::RunResult& run, const Json& f) {
    std::vector<measure::RankResult> ranks = run.rank_results;
    for (const Json& r : f.at("ranks")) {
        measure::RankResult rank;
        rank.rank = field<std::uint32_t>(r, "rank");
        rank.worker = field<std::uint32_t>(r, "worker");
        rank.mean_lateness_ns = optional_field<std::int64_t>(r, "mean_lateness_ns");
        rank.max_lateness_ns = optional_field<std::int64_t>(r, "max_lateness_ns");
        const auto same = std::find_if(ranks.begin(), ranks.end(), [&](const auto& o) { return o.rank == rank.rank; });
        if (same == ranks.end()) {
            ranks.push_back(rank);
        } else {
            *same = rank;
        }
    }
    run.rank_results = std::move(ranks);
}

measure::SelfCheck self_check_of(const Json& f) {
    measure::SelfCheck check;
    check.busy_share = optional_field<double>(f, "busy_share");
    check.late_steps = optional_field<std::uint64_t>(f, "late_steps");
    check.longest_gap_ns = optional_field<std::int64_t>(f, "longest_gap_ns");
    check.send_refusals = optional_field<std::uint64_t>(f, "send_refusals").value_or(0);
    check.lost_frames = optional_field<std::uint64_t>(f, "lost_frames").value_or(0);
    check.ring_high_water = optional_field<double>(f, "ring_high_water");
    check.clock_residual_ppm = optional_field<double>(f, "clock_residual_ppm");
    check.clock = field<std::string>(f, "clock");
    check.verdict = field<std::string>(f, "verdict");
    return check;
}

std::optional<std::uint64_t> sum(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    return a && b ? *a + *b : std::max(a, b);
}

/// The run is as healthy as the worst of its processes.
measure::SelfCheck worse_of(const measure::SelfCheck& a, const measure::SelfCheck& b) {
    measure::SelfCheck worst = a;
    // An empty optional is less than any value.
    worst.busy_share = std::max(a.busy_share, b.busy_share);
    worst.late_steps = sum(a.late_steps, b.late_steps);
    worst.longest_gap_ns = std::max(a.longest_gap_ns, b.longest_gap_ns);
    worst.send_refusals = a.send_refusals + b.send_refusals;
    worst.lost_frames = a.lost_frames + b.lost_frames;
    worst.ring_high_water = std::max(a.ring_high_water, b.ring_high_water);
    worst.clock_residual_ppm = std::max(a.clock_residual_ppm, b.clock_residual_ppm);
    if (a.verdict == "ok") worst.verdict = b.verdict;
    return worst;
}

/// From harmless to grave; the order of the exit codes of a suite.
int gravity(measure::Outcome outcome) {
    using measure::Outcome;
    constexpr std::array kOrder{Outcome::running,     Outcome::pass,    Outcome::fail, Outcome::not_measured,
                                Outcome::interrupted, Outcome::invalid, Outcome::error};
    return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), outcome) - kOrder.begin());
}

/// Returns the line for the list of events.
std::string end_run(measure::RunResult& run, const Json& f) {
    const auto outcome = parsed_field<measure::Outcome>(f, "outcome", measure::parse_outcome);
    const auto reason = field<std::string>(f, "reason");
    if (gravity(outcome) > gravity(run.outcome)) {
        run.outcome = outcome;
        run.reason = reason;
    }
    return std::string{to_string(outcome)} + (reason.empty() ? "" : ": " + reason);
}

/// Times of one more process: the slowest rank counts.
void take_slowest(std::vector<std::vector<std::int64_t>>& repetitions, const Chunk& chunk) {
    if (chunk.repetition > repetitions.size())
        throw Unusable("repetition " + std::to_string(chunk.repetition) + " comes out of order");
    if (chunk.repetition == repetitions.size()) repetitions.emplace_back();
    auto& times = repetitions[chunk.repetition];
    times.resize(std::max(times.size(), chunk.values.size()));
    for (std::size_t i = 0; i < chunk.values.size(); ++i)
        times[i] = std::max(times[i], static_cast<std::int64_t>(chunk.values[i]));
}

measure::Histogram histogram_of(const Chunk& chunk) {
    if (chunk.values.size() % 2 != 0) throw Unusable("its values are no pairs");
    measure::Histogram histogram;
    for (std::size_t i = 0; i < chunk.values.size(); i += 2) {
        if (chunk.values[i] >= measure::Histogram::kBuckets)
            throw Unusable("bucket " + std::to_string(chunk.values[i]) + " does not exist");
        histogram.record(measure::Histogram::lowest_of(static_cast<std::uint32_t>(chunk.values[i])),
                         chunk.values[i + 1]);
    }
    return histogram;
}

void add_event(measure::RunResult& run, bool& self_checked, const Event& event) {
    const auto keep = [&](std::string text) {
        run.events.push_back({event.time.time_since_epoch().count(), event.kind, std::move(text)});
    };
    const Json fields = Json::parse(event.json);
    if (!fields.is_object()) throw Unusable("its fields are no object");
    if (event.kind == kind::kRunStarted) return start_run(run, fields);
    if (event.kind == kind::kMeasurementStarted) return start_measurement(run, fields);
    if (event.kind == kind::kRepetitionStarted || event.kind == kind::kRepetitionFinished) return;
    if (event.kind == kind::kCheckResult) return add_check(run, fields);
    if (event.kind == kind::kCounters) return add_ports(run, fields);
    if (event.kind == kind::kRankResults) return add_ranks(run, fields);
    if (event.kind == kind::kSelfCheck) {
        const measure::SelfCheck check = self_check_of(fields);
        run.self_check = std::exchange(self_checked, true) ? worse_of(run.self_check, check) : check;
        return;
    }
    if (event.kind == kind::kOutcome) return keep(end_run(run, fields));
    keep(optional_field<std::string>(fields, "text").value_or(event.json));
}

void add_chunk(measure::RunResult& run, const Chunk& chunk) {
    auto& measurement = at(run.measurements, chunk.measurement, "measurement");
    switch (chunk.kind) {
        case ChunkKind::completion_times:
            return take_slowest(at(measurement.calls, chunk.call, "call").completion_ns, chunk);
        case ChunkKind::iteration_times: return take_slowest(measurement.iteration_ns, chunk);
        case ChunkKind::histogram_counts: return measurement.message_latency.merge(histogram_of(chunk));
    }
    throw Unusable("its kind is unknown");
}

tl::unexpected<Error> unusable(const std::string& what, const std::string& why) {
    return failure(ErrorCode::store, "record " + what + " of the journal cannot be used: " + why);
}

}  // namespace

Result<void> RunAssembler::add(const Event& event) {
    try {
        add_event(result_, self_checked_, event);
        if (event.kind == kind::kRunStarted) ++under_way_;
        if (event.kind == kind::kOutcome) --under_way_;
        // That one process passed says nothing of another that has not come to its end.
        if (under_way_ > 0 && result_.outcome == measure::Outcome::pass) result_.outcome = measure::Outcome::running;
        return {};
    } catch (const std::exception& e) {
        return unusable('"' + event.kind + '"', e.what());
    }
}

Result<void> RunAssembler::add(const Chunk& chunk) {
    try {
        add_chunk(result_, chunk);
        return {};
    } catch (const std::exception& e) {
        return unusable("chunk " + std::to_string(static_cast<unsigned>(chunk.kind)), e.what());
    }
}

}  // namespace gradstorm::events
