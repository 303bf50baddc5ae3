// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace gradstorm::measure {

/// Every sample counts and memory stays fixed: a log-linear histogram of values 0..2^63-1. Values below 128 have a
/// bucket each, every further power of two is divided into 64 buckets of equal width, so a bucket is at most 1/64 of
/// its lowest value wide and its midpoint is within 1/128 (0.8 %) of any value in it. Merging adds counts: exact.
///
/// record() is one conversion, one shift, one increment: data-path code. Not thread-safe: one histogram a worker,
/// merged after.
class Histogram {
    static_assert(std::numeric_limits<double>::is_iec559);

public:
    static constexpr std::uint32_t kSubBucketBits = 6;
    static constexpr std::uint32_t kLinear = 2U << kSubBucketBits;  // 128 values with a bucket each
    static constexpr std::uint32_t kBuckets = kLinear + ((63U - (kSubBucketBits + 1U)) << kSubBucketBits);

    Histogram() : counts_(kBuckets, 0) {}

    /// Negative values (a clock that ran backwards) count as 0.
    void record(std::int64_t value) { record(value, 1); }
    void record(std::int64_t value, std::uint64_t count) { counts_[bucket_of(value)] += count; }
    void merge(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const;
    /// Smallest value v such that at least `fraction` of the samples are <= the upper end of v's bucket, given as the
    /// bucket's midpoint (nearest rank, no interpolation). Empty without samples.
    [[nodiscard]] std::optional<std::int64_t> quantile(double fraction) const;
    /// A quantile is trusted from 10 samples beyond it on: p99.9 needs 10,000 (kpi-and-tests.md, K13).
    [[nodiscard]] bool enough_for(double fraction) const;
    [[nodiscard]] std::optional<std::int64_t> min() const;
    [[nodiscard]] std::optional<std::int64_t> max() const;

    [[nodiscard]] std::span<const std::uint64_t> counts() const { return counts_; }
    /// A double already is exponent and mantissa: its top bits are the bucket's number but for a constant. Faster than
    /// counting leading zeros where the baseline instruction set has only BSR.
    [[nodiscard]] static std::uint32_t bucket_of(std::int64_t value) {
        constexpr std::uint64_t kBias = (1023U + kSubBucketBits - 1U) << kSubBucketBits;
        constexpr std::uint64_t kFirst = 1U << kSubBucketBits;  // below it a value is its own bucket
        constexpr std::uint64_t kEndOfExact = (53U - kSubBucketBits + 1U) << kSubBucketBits;
        const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
        const std::uint64_t bucket = (bits >> (52U - kSubBucketBits)) - kBias;
        if (bucket - kFirst >= kEndOfExact - kFirst) [[unlikely]]
            return bucket_of_any(value);
        return static_cast<std::uint32_t>(bucket);
    }
    [[nodiscard]] static std::int64_t lowest_of(std::uint32_t bucket);
    [[nodiscard]] static std::int64_t highest_of(std::uint32_t bucket);

    friend bool operator==(const Histogram&, const Histogram&) = default;

private:
    /// The rule itself, for the rare values that are small, negative or beyond 2^53.
    [[nodiscard]] static std::uint32_t bucket_of_any(std::int64_t value) {
        const auto v = static_cast<std::uint64_t>(value < 0 ? 0 : value);
        if (v < kLinear) return static_cast<std::uint32_t>(v);
        const auto shift = static_cast<std::uint32_t>(std::bit_width(v)) - (kSubBucketBits + 1U);
        return (shift << kSubBucketBits) + static_cast<std::uint32_t>(v >> shift);
    }

    std::vector<std::uint64_t> counts_;
};

}  // namespace gradstorm::measure
