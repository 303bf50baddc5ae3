// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/histogram.h"

#include "engine/measure/summary.h"

#include <cstddef>
#include <limits>

namespace gradstorm::measure {
namespace {

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::int64_t midpoint_of(std::uint32_t bucket) {
    const std::int64_t lowest = Histogram::lowest_of(bucket);
    return lowest + (Histogram::highest_of(bucket) - lowest) / 2;
}

}  // namespace

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] = saturating_add(counts_[i], other.counts_[i]);
}

std::uint64_t Histogram::count() const {
    std::uint64_t total = 0;
    for (const std::uint64_t n : counts_) total = saturating_add(total, n);
    return total;
}

std::optional<std::int64_t> Histogram::quantile(double fraction) const {
    const std::uint64_t total = count();
    if (total == 0) return std::nullopt;
    const std::uint64_t rank = nearest_rank(total, fraction);
    std::uint64_t seen = 0;
    std::uint32_t bucket = 0;
    while (bucket + 1 < kBuckets) {
        seen = saturating_add(seen, counts_[bucket]);
        if (seen >= rank) break;
        ++bucket;
    }
    return midpoint_of(bucket);
}

bool Histogram::enough_for(double fraction) const { return enough_samples(count(), fraction); }

std::optional<std::int64_t> Histogram::min() const {
    for (std::uint32_t b = 0; b < kBuckets; ++b)
        if (counts_[b] != 0) return midpoint_of(b);
    return std::nullopt;
}

std::optional<std::int64_t> Histogram::max() const {
    for (std::uint32_t b = kBuckets; b-- > 0;)
        if (counts_[b] != 0) return midpoint_of(b);
    return std::nullopt;
}

std::int64_t Histogram::lowest_of(std::uint32_t bucket) {
    if (bucket < kLinear) return bucket;
    const std::uint32_t shift = (bucket - kLinear) / (kLinear / 2) + 1;
    return static_cast<std::int64_t>(bucket - (shift << kSubBucketBits)) << shift;
}

std::int64_t Histogram::highest_of(std::uint32_t bucket) {
    if (bucket + 1 >= kBuckets) return std::numeric_limits<std::int64_t>::max();
    return lowest_of(bucket + 1) - 1;
}

}  // namespace gradstorm::measure
