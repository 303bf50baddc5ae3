// SPDX-License-Identifier: Apache-2.0
// PERF histogram-record: samples a second into a Histogram. Anchor: increments of a random element of an array of the
// same size, the least that any histogram must do. Both walk the same precomputed random input.
#include "engine/measure/histogram.h"
#include "tests/perf/perf_line.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using gradstorm::measure::Histogram;

constexpr std::size_t kSamples = std::size_t{1} << 16U;
constexpr int kPasses = 100;
constexpr std::size_t kRounds = 7;

/// Latencies as a fabric gives them: microseconds with a long tail.
std::vector<std::int64_t> latencies() {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> shape(9, 1.5);
    std::vector<std::int64_t> values(kSamples);
    for (auto& v : values) v = static_cast<std::int64_t>(shape(random));
    return values;
}

std::vector<std::uint64_t> elements() {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> any(0, Histogram::kBuckets - 1);
    std::vector<std::uint64_t> values(kSamples);
    for (auto& v : values) v = any(random);
    return values;
}

/// Millions of `once` a second.
template <class Once>
double rate(Once&& once) {
    const auto start = std::chrono::steady_clock::now();
    for (int pass = 0; pass < kPasses; ++pass) {
        once();
        benchmark::ClobberMemory();
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(kSamples) * kPasses / took.count();
}

std::vector<gradstorm::perf::Round> measure_record() {
    const auto samples = latencies();
    const auto indexes = elements();
    Histogram histogram;
    std::vector<std::uint64_t> array(Histogram::kBuckets, 0);
    benchmark::DoNotOptimize(array.data());
    return gradstorm::perf::interleave(
        kRounds,
        [&] {
            return rate([&] {
                for (const std::int64_t sample : samples) histogram.record(sample);
            });
        },
        [&] {
            return rate([&] {
                for (const std::uint64_t index : indexes) ++array[index];
            });
        });
}

}  // namespace

int main(int argc, char** argv) {
    return gradstorm::perf::run(argc, argv, {{"histogram-record", "M/s", measure_record}});
}
