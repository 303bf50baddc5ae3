// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/import/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace gradstorm::workload {

namespace {

using Calls = std::vector<TraceCall>;

bool equal(const Calls& a, const Calls& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const TraceCall& x, const TraceCall& y) { return x.repeats(y); });
}

/// The calls between one step marker and the next; iterations without calls are left out. Calls before the first marker
/// are counted in `before`.
std::vector<Calls> split_at_steps(const RecordedTrace& trace, std::size_t& before) {
    std::vector<Calls> iterations(trace.step_nodes.size());
    for (const TraceCall& call : trace.calls) {
        const auto next = std::upper_bound(trace.step_nodes.begin(), trace.step_nodes.end(), call.node);
        if (next == trace.step_nodes.begin()) {
            ++before;
        } else {
            iterations[static_cast<std::size_t>(std::distance(trace.step_nodes.begin(), next)) - 1].push_back(call);
        }
    }
    std::erase_if(iterations, [](const Calls& calls) { return calls.empty(); });
    return iterations;
}

/// The length of the shortest sequence that `calls` is a whole number of repetitions of, by the longest border of the
/// sequence (Knuth, Morris and Pratt): linear time.
std::size_t period_of(const Calls& calls) {
    std::vector<std::size_t> border(calls.size() + 1, 0);
    for (std::size_t i = 1, matched = 0; i < calls.size(); ++i) {
        while (matched > 0 && !calls[i].repeats(calls[matched])) matched = border[matched];
        if (calls[i].repeats(calls[matched])) ++matched;
        border[i + 1] = matched;
    }
    const std::size_t period = calls.size() - border[calls.size()];
    return calls.size() % period == 0 ? period : calls.size();
}

ChosenIteration first_full(const std::vector<Calls>& iterations) {
    ChosenIteration chosen;
    chosen.recorded = static_cast<std::uint32_t>(iterations.size());
    if (iterations.empty()) return chosen;
    const auto full = std::max_element(iterations.begin(), iterations.end(),
                                       [](const Calls& a, const Calls& b) { return a.size() < b.size(); });
    chosen.calls = *full;
    const auto differing =
        std::count_if(iterations.begin(), iterations.end(), [&](const Calls& other) { return !equal(other, *full); });
    if (differing > 0) {
        chosen.warnings.push_back(
            fmt::format("{} of the {} recorded iterations differ from number {} (node {} on), which is replayed",
                        differing, iterations.size(), std::distance(iterations.begin(), full) + 1, full->front().node));
    }
    return chosen;
}

}  // namespace

ChosenIteration choose_iteration(const RecordedTrace& trace) {
    if (trace.calls.empty()) return {};
    if (!trace.step_nodes.empty()) {
        std::size_t before = 0;
        const std::vector<Calls> iterations = split_at_steps(trace, before);
        if (!iterations.empty()) {
            ChosenIteration chosen = first_full(iterations);
            if (before > 0) {
                chosen.warnings.push_back(
                    fmt::format("{} calls before the first step marker (set-up) are left out", before));
            }
            return chosen;
        }
    }
    const std::size_t period = period_of(trace.calls);
    ChosenIteration chosen;
    chosen.calls.assign(trace.calls.begin(), trace.calls.begin() + static_cast<std::ptrdiff_t>(period));
    chosen.recorded = static_cast<std::uint32_t>(trace.calls.size() / period);
    chosen.warnings.push_back(
        chosen.recorded == 1
            ? fmt::format("no step markers around the {} calls of the trace, all are one iteration", period)
            : fmt::format("no step markers in the trace, its {} equal repetitions of {} calls are taken for iterations",
                          chosen.recorded, period));
    return chosen;
}

}  // namespace gradstorm::workload
