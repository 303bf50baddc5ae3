// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How a performance figure is taken and printed. Machines differ and change from minute to minute, so a figure of ours
/// never stands alone: it is a ratio to an anchor (a loop that does the least any program must do for the same effect),
/// measured in the same run, interleaved, as the median of at least five ratios.
///
/// A benchmark program is a list of figures and one call:
///
///     int main(int argc, char** argv) {
///         return gradstorm::perf::run(argc, argv, {{"histogram-record", "M/s", [] { return measure_record(); }}});
///     }
namespace gradstorm::perf {

/// One round: our rate and the anchor's, both in the figure's unit, measured right after each other. Higher is better:
/// a time is turned into a rate first.
using Round = std::pair<double, double>;

inline constexpr std::size_t kMinimumRounds = 5;

struct Figure {
    std::string name;
    std::string unit;                            ///< without spaces
    std::function<std::vector<Round>()> rounds;  ///< measures; at least kMinimumRounds
};

/// The middle value; the mean of the two middle ones of an even count. `values` is not empty.
[[nodiscard]] inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Takes `count` rounds. Each is anchor, ours, anchor, and counts the mean of both anchors, so that a machine that
/// slows down or speeds up during a round favours neither. `ours` and `anchor` return a rate.
template <class Ours, class Anchor>
[[nodiscard]] std::vector<Round> interleave(std::size_t count, Ours&& ours, Anchor&& anchor) {
    std::vector<Round> rounds;
    for (std::size_t i = 0; i < count; ++i) {
        const double before = anchor();
        const double rate = ours();
        const double after = anchor();
        rounds.emplace_back(rate, (before + after) / 2);
    }
    return rounds;
}

/// The line of one figure, `PERF name ours unit anchor ratio`: medians of ours, of the anchor, and of the ratios (which
/// is not the ratio of the medians). Empty when the rounds cannot carry a figure: too few, or a rate that is not above
/// zero.
[[nodiscard]] inline std::string perf_line(std::string_view name, std::string_view unit,
                                           const std::vector<Round>& rounds) {
    if (rounds.size() < kMinimumRounds) return {};
    std::vector<double> ours;
    std::vector<double> anchors;
    std::vector<double> ratios;
    for (const auto& [rate, anchor] : rounds) {
        if (!(rate > 0) || !(anchor > 0)) return {};
        ours.push_back(rate);
        anchors.push_back(anchor);
        ratios.push_back(rate / anchor);
    }
    char numbers[96];
    std::string line = "PERF " + std::string(name);
    std::snprintf(numbers, sizeof numbers, " %.4g ", median(std::move(ours)));
    line += numbers + std::string(unit);
    std::snprintf(numbers, sizeof numbers, " %.4g %.2f", median(std::move(anchors)), median(std::move(ratios)));
    return line + numbers;
}

/// Prints the figure's line. False, with the reason on standard error, when the rounds carry none.
inline bool report(std::string_view name, std::string_view unit, const std::vector<Round>& rounds) {
    const std::string line = perf_line(name, unit, rounds);
    if (line.empty()) {
        std::fprintf(stderr, "%s: not measured: %zu rounds, at least %zu with rates above zero are needed\n",
                     std::string(name).c_str(), rounds.size(), kMinimumRounds);
        return false;
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    return true;
}

/// The whole of a benchmark's main(): `--list` prints the names of the figures; names measure those figures; no
/// argument measures all. Exit code 0, 1 when a figure could not be measured, 4 for a name that is no figure.
inline int run(int argc, char** argv, const std::vector<Figure>& figures) {
    const std::vector<std::string_view> wanted(argv + 1, argv + argc);
    if (wanted.size() == 1 && wanted.front() == "--list") {
        for (const Figure& figure : figures) std::printf("%s\n", figure.name.c_str());
        return 0;
    }
    for (const std::string_view name : wanted) {
        const bool known = std::any_of(figures.begin(), figures.end(), [&](const Figure& f) { return f.name == name; });
        if (!known) {
            std::fprintf(stderr, "%s: no such figure, --list names them\n", std::string(name).c_str());
            return 4;
        }
    }
    bool all = true;
    for (const Figure& figure : figures) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), figure.name) == wanted.end()) continue;
        try {
            all = report(figure.name, figure.unit, figure.rounds()) && all;
        } catch (const std::exception& failure) {
            std::fprintf(stderr, "%s: not measured: %s\n", figure.name.c_str(), failure.what());
            all = false;
        }
    }
    return all ? 0 : 1;
}

}  // namespace gradstorm::perf
