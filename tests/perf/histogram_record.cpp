// SPDX-License-Identifier: Apache-2.0
// PERF histogram-record: random values recorded a second. Anchor: increments of a random element of an array of the
// same size. Both draw from the same generator, in the loop: a real sample comes from a computation too, not from a
// list.
#include "engine/measure/histogram.h"
#include "tests/perf/perf_line.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using gradstorm::measure::Histogram;

constexpr std::size_t kSamples = 8'000'000;
constexpr std::size_t kRounds = 9;

/// A Weyl sequence with one round of mixing: random enough to defeat the caches, no chain of dependent multiplications.
class Draws {
public:
    std::uint64_t operator()() {
        state_ += 0x9E3779B97F4A7C15U;
        return (state_ ^ (state_ >> 32U)) * 0xBF58476D1CE4E5B9U;
    }

private:
    std::uint64_t state_ = 1;
};

/// Millions of calls of `once` a second.
template <class Once>
double rate(Once&& once) {
    Draws draws;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kSamples; ++i) once(draws());
    benchmark::ClobberMemory();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(kSamples) / took.count();
}

std::vector<gradstorm::perf::Round> measure_record() {
    Histogram histogram;
    std::vector<std::uint64_t> array(Histogram::kBuckets, 0);
    benchmark::DoNotOptimize(array.data());
    const auto record = [&](std::uint64_t draw) { histogram.record(static_cast<std::int64_t>(draw >> 40U)); };
    const auto increment = [&](std::uint64_t draw) { ++array[(draw >> 32U) * Histogram::kBuckets >> 32U]; };
    static_cast<void>(rate(record));  // warm-up
    return gradstorm::perf::interleave(kRounds, [&] { return rate(record); }, [&] { return rate(increment); });
}

}  // namespace

int main(int argc, char** argv) {
    return gradstorm::perf::run(argc, argv, {{"histogram-record", "M/s", measure_record}});
}
