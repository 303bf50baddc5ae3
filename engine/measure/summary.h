// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Summary statistics of samples that were all kept (completion times of iterations). For streams too long to keep
/// there is Histogram. Pure functions; nothing measured is an empty optional, never 0.
namespace gradstorm::measure {

/// Nearest rank: the 1-based index in sorted order of the smallest sample that has at least `fraction` of all `count`
/// samples at or below it. Fractions are taken to nine decimals, so that 0.07 of 100 is 7, not 8. `count` > 0,
/// 0 <= fraction <= 1.
[[nodiscard]] std::uint64_t nearest_rank(std::uint64_t count, double fraction);

/// A quantile is trusted when at least ten samples lie beyond it: p99.9 needs 10,000, p99.99 needs 100,000
/// (kpi-and-tests.md, K13).
[[nodiscard]] bool enough_samples(std::uint64_t count, double fraction);

struct Quantile {
    std::int64_t value = 0;
    bool trusted = false;  ///< enough_samples(); an untrusted quantile is shown marked
};

struct Summary {
    std::uint64_t count = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
    double mean = 0;
    std::optional<double> cv;  ///< sample standard deviation / mean; empty below two samples or for mean 0
    Quantile median;
    Quantile p90;
    Quantile p99;
    Quantile p999;
};

/// Empty without samples.
[[nodiscard]] std::optional<Summary> summarise(std::span<const std::int64_t> samples);

/// All repetitions together.
[[nodiscard]] std::optional<Summary> summarise_all(const std::vector<std::vector<std::int64_t>>& repetitions);

/// Quantile of samples already in ascending order. Empty without samples.
[[nodiscard]] std::optional<Quantile> sorted_quantile(std::span<const std::int64_t> ascending, double fraction);

}  // namespace gradstorm::measure
