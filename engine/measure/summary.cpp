// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gradstorm::measure {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;
constexpr std::uint64_t kSamplesBeyond = 10;

std::uint64_t billionths(double fraction) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(kBillion)));
}

/// ceil(count x fraction): split by 1e9 so that no product exceeds 64 bits.
std::uint64_t share_rounded_up(std::uint64_t count, double fraction) {
    const std::uint64_t share = billionths(fraction);
    return count / kBillion * share + (count % kBillion * share + kBillion - 1) / kBillion;
}

/// Mean and sum of squared deviations in one pass (Welford): no sum that could overflow or cancel.
struct Moments {
    double mean = 0;
    double squares = 0;
};

Moments moments_of(std::span<const std::int64_t> samples) {
    Moments m;
    double n = 0;
    for (const std::int64_t sample : samples) {
        n += 1;
        const double delta = static_cast<double>(sample) - m.mean;
        m.mean += delta / n;
        m.squares += delta * (static_cast<double>(sample) - m.mean);
    }
    return m;
}

}  // namespace

std::uint64_t nearest_rank(std::uint64_t count, double fraction) {
    return std::clamp<std::uint64_t>(share_rounded_up(count, fraction), 1, count);
}

bool enough_samples(std::uint64_t count, double fraction) {
    return count - std::min(count, share_rounded_up(count, fraction)) >= kSamplesBeyond;
}

std::optional<Quantile> sorted_quantile(std::span<const std::int64_t> ascending, double fraction) {
    if (ascending.empty()) return std::nullopt;
    const std::uint64_t count = ascending.size();
    return Quantile{ascending[static_cast<std::size_t>(nearest_rank(count, fraction) - 1)],
                    enough_samples(count, fraction)};
}

std::optional<Summary> summarise(std::span<const std::int64_t> samples) {
    if (samples.empty()) return std::nullopt;
    std::vector<std::int64_t> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const Moments moments = moments_of(samples);
    Summary s;
    s.count = sorted.size();
    s.min = sorted.front();
    s.max = sorted.back();
    s.mean = moments.mean;
    if (sorted.size() > 1 && moments.mean > 0)
        s.cv = std::sqrt(moments.squares / static_cast<double>(sorted.size() - 1)) / moments.mean;
    s.median = *sorted_quantile(sorted, 0.5);
    s.p90 = *sorted_quantile(sorted, 0.9);
    s.p99 = *sorted_quantile(sorted, 0.99);
    s.p999 = *sorted_quantile(sorted, 0.999);
    return s;
}

std::optional<Summary> summarise_all(const std::vector<std::vector<std::int64_t>>& repetitions) {
    std::vector<std::int64_t> all;
    for (const auto& repetition : repetitions) all.insert(all.end(), repetition.begin(), repetition.end());
    return summarise(all);
}

}  // namespace gradstorm::measure
