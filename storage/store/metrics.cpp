// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"
#include "engine/measure/port_counters.h"
#include "engine/measure/summary.h"
#include "storage/store/journal_rows.h"

#include <cmath>
#include <string>
#include <vector>

namespace gradstorm::store {
namespace {

/// Inserts what was measured; what was not has no row, and a number that is none is not stored.
class Writer {
public:
    Writer(SQLite::Database& db, std::int64_t run)
        : run_(run), insert_(db, "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?)") {}

    void put(const std::string& subject, const std::string& name, const char* unit, std::optional<double> value) {
        if (!value || !std::isfinite(*value)) return;
        insert_.bind(1, run_);
        insert_.bind(2, subject);
        insert_.bind(3, name);
        insert_.bind(4, unit);
        insert_.bind(5, *value);
        insert_.exec();
        insert_.reset();
    }
    void put_times(const std::string& subject, const std::string& prefix,
                   const std::vector<std::vector<std::int64_t>>& repetitions) {
        const auto s = measure::summarise_all(repetitions);
        if (!s) return;
        put(subject, prefix + "_samples", "samples", static_cast<double>(s->count));
        put(subject, prefix + "_min", "ns", static_cast<double>(s->min));
        put(subject, prefix + "_mean", "ns", s->mean);
        put(subject, prefix + "_median", "ns", static_cast<double>(s->median.value));
        put(subject, prefix + "_max", "ns", static_cast<double>(s->max));
        put(subject, prefix + "_cv", "1", s->cv);
        if (s->p99.trusted) put(subject, prefix + "_p99", "ns", static_cast<double>(s->p99.value));
    }

private:
    std::int64_t run_;
    SQLite::Statement insert_;
};

std::optional<double> median_of(const std::vector<std::vector<std::int64_t>>& repetitions) {
    const auto s = measure::summarise_all(repetitions);
    if (!s) return std::nullopt;
    return static_cast<double>(s->median.value);
}

void write_call(Writer& writer, const std::string& subject, const measure::CallResult& call) {
    writer.put_times(subject, "completion_time", call.completion_ns);
    if (call.wrong_elements)
        writer.put(subject, "wrong_elements", "elements", static_cast<double>(*call.wrong_elements));
    const auto median = median_of(call.completion_ns);
    if (!median) return;
    writer.put(subject, "algbw", "GB/s", measure::algorithm_gbytes_per_s(call.bytes, *median));
    writer.put(subject, "busbw", "GB/s", measure::bus_gbytes_per_s(call.kind, call.ranks, call.bytes, *median));
    if (call.ideal_ns > 0)
        writer.put(subject, "ideal_share", "%", measure::percent_of(static_cast<double>(call.ideal_ns), *median));
}

void write_latency(Writer& writer, const std::string& subject, const measure::Histogram& latency) {
    if (latency.count() == 0) return;
    writer.put(subject, "message_latency_samples", "samples", static_cast<double>(latency.count()));
    const struct {
        const char* name;
        double fraction;
    } quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
    for (const auto& q : quantiles)
        if (latency.enough_for(q.fraction))
            writer.put(subject, std::string{"message_latency_"} + q.name, "ns",
                       static_cast<double>(*latency.quantile(q.fraction)));
}

void write_port(Writer& writer, const measure::PortResult& port) {
    const std::string subject = "port " + port.name;
    for (const auto& counter : measure::kPortCounters)
        writer.put(subject, std::string{counter.name}, std::string{counter.unit}.c_str(),
                   static_cast<double>(port.*counter.value));
    if (port.communicating_ns <= 0) return;
    writer.put(subject, "communicating_time", "ns", static_cast<double>(port.communicating_ns));
    if (const auto goodput = measure::rate_of(port.payload_bytes, static_cast<double>(port.communicating_ns)))
        writer.put(subject, "goodput", "Gb/s", gigabits(*goodput));
}

void write_rank(Writer& writer, const measure::RankResult& rank) {
    const std::string subject = "rank " + std::to_string(rank.rank);
    if (rank.mean_lateness_ns) writer.put(subject, "lateness_mean", "ns", static_cast<double>(*rank.mean_lateness_ns));
    if (rank.max_lateness_ns) writer.put(subject, "lateness_max", "ns", static_cast<double>(*rank.max_lateness_ns));
}

}  // namespace

void write_metrics(SQLite::Database& db, std::int64_t run, const measure::RunResult& result) {
    Writer writer(db, run);
    for (std::size_t m = 0; m < result.measurements.size(); ++m) {
        const auto& measurement = result.measurements[m];
        const std::string index = std::to_string(m);
        writer.put_times("measurement " + index, "iteration_time", measurement.iteration_ns);
        write_latency(writer, "measurement " + index, measurement.message_latency);
        for (std::size_t c = 0; c < measurement.calls.size(); ++c)
            write_call(writer, "call " + index + '.' + std::to_string(c), measurement.calls[c]);
    }
    for (const auto& port : result.ports) write_port(writer, port);
    for (const auto& rank : result.rank_results) write_rank(writer, rank);
    const auto& check = result.self_check;
    if (check.clock.empty()) return;
    writer.put("run", "busy_share", "1", check.busy_share);
    if (check.late_steps) writer.put("run", "late_steps", "steps", static_cast<double>(*check.late_steps));
    if (check.longest_gap_ns) writer.put("run", "longest_gap", "ns", static_cast<double>(*check.longest_gap_ns));
    writer.put("run", "send_refusals", "bursts", static_cast<double>(check.send_refusals));
    writer.put("run", "lost_frames", "frames", static_cast<double>(check.lost_frames));
    writer.put("run", "ring_high_water", "1", check.ring_high_water);
    writer.put("run", "clock_residual", "ppm", check.clock_residual_ppm);
}

}  // namespace gradstorm::store
