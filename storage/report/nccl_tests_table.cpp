// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/bandwidth.h"
#include "engine/measure/summary.h"
#include "storage/report/format.h"
#include "storage/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace gradstorm::report {
namespace {

using measure::CallResult;
using measure::CollectiveKind;
using measure::RunResult;

constexpr std::size_t kTimeWidth = 7;
constexpr std::size_t kRateWidth = 6;

/// Calls in the order of the table. A barrier is no row.
template <class F>
void for_each_call(const RunResult& run, F&& f) {
    for (const auto& measurement : run.measurements)
        for (const CallResult& call : measurement.calls)
            if (call.kind != CollectiveKind::barrier) f(call);
}

/// The parameter `count` of the collective: per rank where S is a total over the ranks.
std::uint64_t count_of(const CallResult& call) {
    const std::uint64_t elements = call.bytes / size_of(call.type);
    switch (call.kind) {
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_gather:
        case CollectiveKind::all_to_all: return call.ranks == 0 ? 0 : elements / call.ranks;
        default: return elements;
    }
}

std::string_view reduction_of(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::all_reduce:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::send_receive: return "sum";
        default: return "none";
    }
}

std::string root_of(const CallResult& call) {
    return call.kind == CollectiveKind::broadcast ? fmt::format("{}", call.root) : "-1";
}

/// Time, algbw and busbw of one half, as three columns.
struct Half {
    std::string text;
    std::optional<double> busbw;
};

Half half_of(const CallResult& call) {
    const auto times = measure::summarise_all(call.completion_ns);
    if (!times || !(times->mean > 0)) {
        return {fmt::format("  {:>{}}  {:>{}}  {:>{}}", kNotMeasured, kTimeWidth, kNotMeasured, kRateWidth,
                            kNotMeasured, kRateWidth),
                std::nullopt};
    }
    const double algbw = *measure::algorithm_gbytes_per_s(call.bytes, times->mean);
    const double busbw = algbw * measure::bus_bandwidth_factor(call.kind, call.ranks);
    return {fmt::format("  {:>{}}  {:>{}}  {:>{}}", fitted_text(times->mean / 1000, kTimeWidth), kTimeWidth,
                        fitted_text(algbw, kRateWidth), kRateWidth, fitted_text(busbw, kRateWidth), kRateWidth),
            busbw};
}

std::string row_of(const CallResult& call, const Half& half) {
    const std::string wrong =
        call.wrong_elements ? fmt::format("{:g}", static_cast<double>(*call.wrong_elements)) : kNotMeasured;
    return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}  {:>6}{}  {:>6}\n", call.bytes, count_of(call),
                       nccl_name(call.type), reduction_of(call.kind), root_of(call), half.text, wrong, half.text,
                       kNotMeasured);
}

std::string notes(const RunResult& run) {
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t largest = 0;
    std::size_t iterations = 0;
    bool checked = false;
    for_each_call(run, [&](const CallResult& call) {
        smallest = std::min(smallest, call.bytes);
        largest = std::max(largest, call.bytes);
        std::size_t n = 0;
        for (const auto& repetition : call.completion_ns) n += repetition.size();
        iterations = std::max(iterations, n);
        checked = checked || call.wrong_elements.has_value();
    });
    std::string out = fmt::format("# gradstorm version {}\n", run.version);
    out += fmt::format("# Collective test starting: gradstorm {}\n", run.uuid);  // the profile's name may be any words
    out += fmt::format("# nRanks {} minBytes {} maxBytes {} iters: {} validate: {}\n", run.ranks,
                       largest == 0 ? 0 : smallest, largest, iterations, checked ? 1 : 0);
    out += fmt::format(
        "# synthetic: schedules replayed by gradstorm ({}, {} payload, level {}), no collective library ran\n",
        run.engine, run.payload, run.fidelity);
    out += "# the second half of each row repeats the first: the replayed messages are the same for both\n";
    return out;
}

/// Scripts take the first line with "bandwidth" for the average, and "FAILED" in any line for a failure.
bool misleads_scripts(std::string_view name) {
    return name.find("bandwidth") != std::string_view::npos || name.find("FAILED") != std::string_view::npos;
}

std::string devices(const RunResult& run) {
    std::string host = "localhost";
    for (const auto& [key, value] : run.environment)
        if (key == "host" && value != "unknown" && !misleads_scripts(value)) host = value;
    std::string out = "#\n# Using devices\n";
    for (const auto& port : run.ports)
        out += fmt::format("#  Rank {:>2} Group {:>2} Pid {:>6} on {:>10} device {:>2} [emulated] hca{} (gradstorm)\n",
                           port.rank, 0, kNotMeasured, host, port.rank, port.rank);
    return out;
}

constexpr std::string_view kColumns =
    "#\n"
    "#                                                              out-of-place                       in-place        "
    "  \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)  "
    "      \n";

/// A plain decimal, never an exponent: scripts cut it out with patterns of digits and dots.
std::string plain_decimal(double value) {
    std::string text = fmt::format("{:.6g}", value);
    if (text.find('e') != std::string::npos) text = fmt::format("{:.6f}", value);
    return text;
}

}  // namespace

std::string nccl_tests_table(const RunResult& run) {
    std::string out = notes(run) + devices(run) + std::string{kColumns};
    double busbw_sum = 0;
    std::size_t measured = 0;
    std::size_t failed = 0;
    bool checked = false;
    for_each_call(run, [&](const CallResult& call) {
        const Half half = half_of(call);
        out += row_of(call, half);
        if (half.busbw) {
            busbw_sum += *half.busbw;
            ++measured;
        }
        checked = checked || call.wrong_elements.has_value();
        failed += call.wrong_elements.value_or(0) != 0 ? 1U : 0U;
    });
    const std::string bounds = checked ? fmt::format("{} {}", failed, failed == 0 ? "OK" : "FAILED") : kNotMeasured;
    const std::string average = measured != 0 ? plain_decimal(busbw_sum / static_cast<double>(measured)) : kNotMeasured;
    out += fmt::format("# {:<20} : {}\n# {:<20} : {} \n#\n# Collective test concluded: gradstorm\n",
                       "Out of bounds values", bounds, "Avg bus bandwidth", average);
    return out;
}

}  // namespace gradstorm::report
