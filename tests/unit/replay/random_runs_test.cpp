// SPDX-License-Identifier: Apache-2.0
//
// Runs drawn at random: any calls, groups of settings and network faults end with the right data. A failing seed is
// replayed by its number.
#include "tests/unit/replay/workloads.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;

class Dice {
public:
    explicit Dice(std::uint32_t seed) : random_(seed) {}
    /// From `low` to `high`, both included. (Distributions of the standard library differ between implementations.)
    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(random_()) % (high - low + 1);
    }
    bool one_in(std::uint32_t n) { return between(1, n) == 1; }
    double share(std::uint32_t most_per_mille) { return between(0, most_per_mille) / 1000.0; }

private:
    std::mt19937 random_;
};

workload::PlannedCall random_call(Dice& dice, std::uint32_t ranks) {
    static constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                       CollectiveKind::all_gather, CollectiveKind::broadcast,
                                       CollectiveKind::all_to_all, CollectiveKind::send_receive};
    const DataType type = dice.one_in(2) ? DataType::float32 : DataType::bfloat16;
    const std::uint64_t bytes = std::uint64_t{dice.between(0, 60'000)} * measure::size_of(type);
    workload::PlannedCall planned = call_on_all(ranks, kKinds.at(dice.between(0, 5)), type, bytes, dice.between(1, 3));
    planned.call.chunk = Bytes{std::uint64_t{dice.between(1, 20'000)} * 4};
    planned.call.root = dice.between(0, ranks - 1);
    if (dice.one_in(3)) planned.gap = Nanoseconds{dice.between(0, 100'000)};
    if (dice.one_in(5)) planned.call.fidelity = collective::Fidelity::bytes;
    return planned;
}

workload::Workload random_workload(Dice& dice) {
    const std::uint32_t ranks = dice.between(2, 9);
    std::vector<workload::PlannedCall> calls;
    for (std::uint32_t i = dice.between(1, 4); i > 0; --i) calls.push_back(random_call(dice, ranks));
    workload::Workload workload = workload_of(ranks, std::move(calls));
    auto& jobs = workload.measurements[0].jobs;
    jobs[0].overlap = dice.one_in(2);
    if (dice.one_in(3)) jobs.push_back(jobs[0]);
    return workload;
}

VirtualRunOptions random_options(Dice& dice, std::uint32_t seed) {
    VirtualRunOptions options = quick_options();
    options.workers = dice.between(1, 9);
    options.session.seed = seed;
    options.session.slots = dice.between(1, 9);
    options.session.warmup = dice.between(0, 1);
    options.session.iterations = dice.between(1, 3);
    options.session.checking = dice.one_in(3) ? Checking::last : Checking::all;
    options.session.queue_pair.send_depth = dice.between(1, 20);
    options.session.queue_pair.receive_depth = dice.between(1, 40);
    options.session.queue_pair.window_frames = dice.between(1, 300);
    options.session.queue_pair.path_mtu = 256U << dice.between(0, 4);
    options.session.queue_pair.retry_limit = 50;
    if (dice.one_in(4)) return options;
    options.impair_all.drop = dice.share(30);
    options.impair_all.duplicate = dice.share(20);
    options.impair_all.reorder = dice.share(20);
    options.impair_all.corrupt = dice.share(20);
    return options;
}

class RandomRun : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomRun, EndsWithTheRightData) {
    for (std::uint32_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
        Dice dice(seed);
        const workload::Workload workload = random_workload(dice);
        const SessionReport report = run_virtually(workload, random_options(dice, seed));
        ASSERT_EQ(report.outcome, measure::Outcome::pass) << "seed " << seed << ": " << report.reason;
        for (const measure::CallResult& call : report.measurements[0].calls) {
            EXPECT_EQ(call.wrong_elements, 0U) << "seed " << seed;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRun, testing::Values(0, 10, 20, 30));

}  // namespace
}  // namespace gradstorm::replay
