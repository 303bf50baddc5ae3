// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"
#include "engine/measure/summary.h"
#include "storage/report/format.h"
#include "storage/report/report.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace gradstorm::report {
namespace {

using measure::RunResult;

constexpr int kLabelWidth = 12;

std::string line(std::string_view label, std::string_view text) {
    return fmt::format("{:<{}}{}\n", label, kLabelWidth, text);
}

std::string header(const RunResult& run) {
    constexpr std::size_t kShortHash = 12;
    std::string out = line("run", run.started_utc.empty() ? run.uuid : run.uuid + ", started " + run.started_utc);
    out += line("profile", fmt::format("{} (sha256 {}), schedule {}, seed {}", run.profile_name,
                                       run.profile_sha256.substr(0, kShortHash),
                                       run.schedule_hash.substr(0, kShortHash), run.seed));
    out += line("engine", fmt::format("{}, gradstorm {}", run.engine, run.version));
    out += line("traffic", fmt::format("{} ranks, {} payload, level {}, path MTU {}", run.ranks, run.payload,
                                       run.fidelity, run.path_mtu));
    for (const std::string& disclosure : run.disclosures) out += line("note", disclosure);
    if (!run.dut.empty()) {
        std::string keys;
        for (const auto& [key, value] : run.dut) keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", key, value);
        out += line("dut", keys);
    }
    return out;
}

/// A quantile that too few samples carry is shown, marked.
std::string marked(const measure::Quantile& quantile, bool& any_marked) {
    any_marked = any_marked || !quantile.trusted;
    return time_text(static_cast<double>(quantile.value)) + (quantile.trusted ? " " : "*");
}

std::vector<std::string> call_row(const measure::CallResult& call, bool& any_marked) {
    std::vector<std::string> row{call.label, std::string{to_string(call.kind)}, size_text(call.bytes),
                                 std::string{to_string(call.type)}, call.algorithm};
    const auto times = measure::summarise_all(call.completion_ns);
    const double median = times ? static_cast<double>(times->median.value) : 0;
    row.push_back(times ? time_text(median) : kNotMeasured);
    row.push_back(times ? marked(times->p99, any_marked) : kNotMeasured);
    const auto bus = measure::bus_gbytes_per_s(call.kind, call.ranks, call.bytes, median);
    row.push_back(number_text(measure::algorithm_gbytes_per_s(call.bytes, median), 3));
    row.push_back(number_text(bus, 3));
    row.push_back(number_text(bus ? std::optional{*bus * 8} : std::nullopt, 2));
    const bool ideal = call.ideal_ns > 0;
    row.push_back(ideal ? time_text(static_cast<double>(call.ideal_ns)) : kNotMeasured);
    row.push_back(
        number_text(ideal ? measure::percent_of(static_cast<double>(call.ideal_ns), median) : std::nullopt, 1));
    row.push_back(call.wrong_elements ? count_text(*call.wrong_elements) : kNotMeasured);
    row.push_back(call.ideal_bound.empty() ? kNotMeasured : call.ideal_bound.substr(0, call.ideal_bound.find(':')));
    return row;
}

/// The whole iteration, where it is more than one call.
std::vector<std::string> iteration_row(const measure::MeasurementResult& measurement, bool& any_marked) {
    std::uint64_t bytes = 0;
    for (const auto& call : measurement.calls) bytes += call.bytes;
    std::vector<std::string> row{"= " + measurement.label, fmt::format("{} calls", measurement.calls.size()),
                                 size_text(bytes), "", ""};
    const auto times = measure::summarise_all(measurement.iteration_ns);
    row.push_back(times ? time_text(static_cast<double>(times->median.value)) : kNotMeasured);
    row.push_back(times ? marked(times->p99, any_marked) : kNotMeasured);
    return row;
}

std::string calls_table(const RunResult& run) {
    if (run.measurements.empty()) return "no measurement was started\n";
    TextTable table(2, {"call", "collective", "size", "type", "algorithm", "median", "p99 ", "algbw GB/s", "busbw GB/s",
                        "busbw Gb/s", "ideal", "% of ideal", "wrong", "bound by"});
    bool any_marked = false;
    const measure::CallResult* longest = nullptr;  // whose ideal time is
    for (const auto& measurement : run.measurements) {
        for (const auto& call : measurement.calls) {
            table.add(call_row(call, any_marked));
            if (!call.ideal_bound.empty() && (longest == nullptr || call.ideal_ns > longest->ideal_ns)) longest = &call;
        }
        if (measurement.calls.size() > 1) table.add(iteration_row(measurement, any_marked));
    }
    std::string out = table.text();
    if (any_marked) out += "* too few samples: fewer than ten lie beyond it\n";
    if (longest != nullptr) out += fmt::format("ideal time of {}: {}\n", longest->label, longest->ideal_bound);
    return out;
}

std::string ports_table(const RunResult& run) {
    if (run.ports.empty()) return {};
    const double fraction = measure::goodput_fraction(run.path_mtu, run.ipv6);
    TextTable table(1, {"port", "rank", "goodput Gb/s", "ceiling Gb/s", "% of ceiling", "payload bytes", "wire bytes",
                        "data frames", "retransmitted", "ECN marked", "ICRC errors"});
    for (const auto& port : run.ports) {
        const auto goodput = measure::rate_of(port.payload_bytes, static_cast<double>(port.communicating_ns));
        std::optional<double> rate;
        std::optional<double> ceiling;
        std::optional<double> share;
        if (goodput) rate = gigabits(*goodput);
        if (run.line_rate_bits_per_s) ceiling = *run.line_rate_bits_per_s * fraction / 1e9;
        if (rate && ceiling) share = measure::percent_of(*rate, *ceiling);
        table.add({port.name, fmt::format("{}", port.rank), number_text(rate, 3), number_text(ceiling, 3),
                   number_text(share, 1), count_text(port.payload_bytes), count_text(port.wire_bytes),
                   count_text(port.data_frames), count_text(port.retransmitted_frames),
                   count_text(port.ecn_marked_frames), count_text(port.icrc_errors)});
    }
    std::string out = '\n' + table.text();
    if (run.line_rate_bits_per_s)
        out += fmt::format("ceiling: line rate {:.6g} Gb/s x {:.2f} % (path MTU {}, {}, no VLAN tag)\n",
                           *run.line_rate_bits_per_s / 1e9, 100 * fraction, run.path_mtu, run.ipv6 ? "IPv6" : "IPv4");
    return out;
}

/// Sum of the all-reduce sizes of one iteration: the gradient bytes that each rank contributes.
std::string all_reduce_bytes(const RunResult& run) {
    if (run.measurements.size() != 1) return {};
    std::uint64_t bytes = 0;
    for (const auto& call : run.measurements.front().calls)
        if (call.kind == measure::CollectiveKind::all_reduce) bytes += call.bytes;
    if (bytes == 0) return {};
    return line("all-reduce", count_text(bytes) + " bytes per rank and iteration");
}

std::string latency(const RunResult& run) {
    if (run.measurements.size() != 1) return {};  // of several sizes together it says nothing
    const measure::Histogram& h = run.measurements.front().message_latency;
    if (h.count() == 0) return line("latency", kNotMeasured);
    std::string text;
    const struct {
        const char* name;
        double fraction;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
    for (const auto& q : quantiles)
        text += fmt::format("{} {}{}, ", q.name, time_text(static_cast<double>(*h.quantile(q.fraction))),
                            h.enough_for(q.fraction) ? "" : "*");
    return line("latency", fmt::format("{}max {} over {} messages, post to acknowledgement", text,
                                       time_text(static_cast<double>(*h.max())), count_text(h.count())));
}

std::string retransmissions(const RunResult& run) {
    if (run.ports.empty()) return line("retransmit", kNotMeasured);
    std::uint64_t again = 0;
    std::uint64_t frames = 0;
    std::uint64_t timeouts = 0;
    for (const auto& port : run.ports) {
        again += port.retransmitted_frames;
        frames += port.data_frames;
        timeouts += port.timeouts;
    }
    const auto share = measure::percent_of(static_cast<double>(again), static_cast<double>(frames));
    return line("retransmit", fmt::format("{} of {} data frames ({} %), {} time-outs", count_text(again),
                                          count_text(frames), number_text(share, 3), count_text(timeouts)));
}

std::string lateness(const RunResult& run) {
    const measure::RankResult* latest = nullptr;
    for (const auto& rank : run.rank_results)
        if (rank.mean_lateness_ns && (latest == nullptr || *rank.mean_lateness_ns > *latest->mean_lateness_ns))
            latest = &rank;
    if (latest == nullptr) return line("lateness", kNotMeasured);
    const std::string largest =
        latest->max_lateness_ns ? time_text(static_cast<double>(*latest->max_lateness_ns)) : kNotMeasured;
    return line("lateness", fmt::format("rank {} is latest: mean {}, largest {} behind the first rank", latest->rank,
                                        time_text(static_cast<double>(*latest->mean_lateness_ns)), largest));
}

std::string clock(const measure::SelfCheck& check) {
    if (check.clock.empty()) return line("clock", kNotMeasured);
    const std::string residual =
        check.clock_residual_ppm ? fmt::format(", residual {:.2f} ppm", *check.clock_residual_ppm) : "";
    return line("clock", check.clock + residual);
}

std::string self_check(const measure::SelfCheck& check) {
    if (check.clock.empty()) return line("self-check", kNotMeasured);
    std::string text = or_not_measured(check.verdict);
    if (check.busy_share) text += fmt::format("; busy {:.1f} %", 100 * *check.busy_share);
    if (check.late_steps) text += fmt::format(", {} late steps", count_text(*check.late_steps));
    if (check.longest_gap_ns) text += ", longest gap " + time_text(static_cast<double>(*check.longest_gap_ns));
    if (check.ring_high_water) text += fmt::format(", fullest ring {:.0f} %", 100 * *check.ring_high_water);
    if (check.lost_frames > 0) text += fmt::format(", {} frames lost", count_text(check.lost_frames));
    return line("self-check", text);
}

std::string events(const RunResult& run) {
    std::string out;
    for (const auto& event : run.events)
        if (event.kind != "outcome") out += line(event.kind, event.text);
    return out;
}

}  // namespace

std::string native_table(const RunResult& run) {
    std::string out = header(run) + '\n' + calls_table(run) + ports_table(run) + '\n';
    out += all_reduce_bytes(run) + latency(run) + retransmissions(run) + lateness(run) + clock(run.self_check) +
           self_check(run.self_check) + events(run);
    const std::string outcome{to_string(run.outcome)};
    return out + line("outcome", run.reason.empty() ? outcome : outcome + ": " + run.reason);
}

}  // namespace gradstorm::report
