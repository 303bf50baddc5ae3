// SPDX-License-Identifier: Apache-2.0
//
// What a session does besides moving data: times, gaps, checks, stalls, failures, stops.
#include "tests/unit/replay/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <iterator>
#include <string>
#include <vector>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using measure::Outcome;
using testing::HasSubstr;

workload::Workload all_reduce(std::uint32_t ranks, std::uint64_t bytes = 200'000) {
    return workload_of(ranks, {call_on_all(ranks, CollectiveKind::all_reduce, DataType::float32, bytes)});
}

/// Every work request as text: who, when, what.
class Trace final : public WorkRequestTap {
public:
    void posted(Instant now, std::uint32_t worker, const transport::WorkRequest& request) override {
        fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\n", now.time_since_epoch().count(), worker,
                       request.queue_pair, request.length, request.immediate, static_cast<int>(request.traffic_class));
    }
    std::string text;
};

TEST(Determinism, TheSameSeedGivesTheSameTraceThreeTimes) {
    std::vector<std::string> traces;
    std::vector<std::vector<std::int64_t>> times;
    for (int i = 0; i < 3; ++i) {
        Trace trace;
        VirtualRunOptions options = quick_options();
        options.session.tap = &trace;
        options.session.seed = 77;
        options.impair_all.drop = 0.02;
        options.workers = 3;
        const SessionReport report = run_virtually(all_reduce(5), options);
        ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
        traces.push_back(std::move(trace.text));
        times.push_back(report.measurements[0].iteration_ns[0]);
    }
    EXPECT_FALSE(traces[0].empty());
    EXPECT_TRUE(traces[0] == traces[1]);
    EXPECT_TRUE(traces[0] == traces[2]);
    EXPECT_EQ(times[0], times[1]);
    EXPECT_EQ(times[0], times[2]);
}

TEST(Checks, OneFlippedBitInOneIterationIsFoundWithIterationRankAndOffset) {
    VirtualRunOptions options = quick_options();
    options.session.iterations = 4;
    options.session.tamper = [](std::uint32_t rank, std::uint32_t, std::uint32_t iteration, std::uint64_t result,
                                std::uint64_t length) {
        if (rank != 2 || iteration != 3) return;
        ASSERT_GT(length, 12'345U);
        reinterpret_cast<unsigned char*>(result)[12'345] ^= 0x20U;
    };
    const SessionReport report = run_virtually(all_reduce(3), options);
    EXPECT_EQ(report.outcome, Outcome::fail);
    EXPECT_EQ(report.measurements[0].calls[0].wrong_elements, 1U);
    ASSERT_FALSE(report.events.empty());
    EXPECT_THAT(report.events[0].text,
                HasSubstr("rank 2, all_reduce[0], repetition 0, iteration 3: 1 elements, the first at byte 12344"));
}

TEST(Checks, OnlyTheLastIterationIsCheckedWhenAskedFor) {
    for (const std::uint32_t damaged : {1U, 3U}) {
        VirtualRunOptions options = quick_options();
        options.session.iterations = 4;
        options.session.checking = Checking::last;
        std::vector<std::uint32_t> seen;
        options.session.tamper = [&](std::uint32_t rank, std::uint32_t, std::uint32_t iteration, std::uint64_t result,
                                     std::uint64_t) {
            if (rank == 0) seen.push_back(iteration);
            if (rank == 0 && iteration == damaged) reinterpret_cast<unsigned char*>(result)[0] ^= 1U;
        };
        const SessionReport report = run_virtually(all_reduce(2), options);
        EXPECT_EQ(seen, (std::vector<std::uint32_t>{3}));
        EXPECT_EQ(report.outcome, damaged == 3 ? Outcome::fail : Outcome::pass);
    }
}

TEST(Checks, VerificationDoesNotCountInTheTimes) {
    VirtualRunOptions options = quick_options();
    options.session.iterations = 3;
    options.session.checking = Checking::none;
    const auto plain = run_virtually(all_reduce(4), options).measurements.at(0).iteration_ns.at(0);
    options.session.checking = Checking::all;
    const auto checked = run_virtually(all_reduce(4), options).measurements.at(0).iteration_ns.at(0);
    // The first iteration starts from rest in both; a barrier's skew is a few hops.
    EXPECT_NEAR(static_cast<double>(checked[0]), static_cast<double>(plain[0]), 20'000.0);
}

TEST(Gaps, ComputeRunsBetweenCallsAndIsNoStall) {
    auto workload = all_reduce(2);
    auto& calls = workload.measurements[0].jobs[0].calls;
    calls.push_back(calls[0]);
    calls[0].gap = std::chrono::seconds{20};
    calls[1].gap = std::chrono::milliseconds{3};
    VirtualRunOptions options = quick_options();
    options.session.stall_timeout = std::chrono::seconds{5};
    const SessionReport report = run_virtually(workload, options);
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    const auto& measured = report.measurements[0];
    const std::int64_t calls_ns = measured.calls[0].completion_ns[0][0] + measured.calls[1].completion_ns[0][0];
    EXPECT_NEAR(static_cast<double>(measured.iteration_ns[0][0]), 20.003e9 + static_cast<double>(calls_ns), 20e3);
}

TEST(Gaps, OverlappingComputeHidesBehindTheCallBefore) {
    auto workload = all_reduce(2, 8'000'000);
    auto& job = workload.measurements[0].jobs[0];
    job.calls.push_back(job.calls[0]);
    job.calls[1].gap = std::chrono::microseconds{100};  // far less than the first call takes
    job.overlap = true;
    const SessionReport report = run_virtually(workload, quick_options());
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    const auto& measured = report.measurements[0];
    const std::int64_t calls_ns = measured.calls[0].completion_ns[0][0] + measured.calls[1].completion_ns[0][0];
    EXPECT_NEAR(static_cast<double>(measured.iteration_ns[0][0]), static_cast<double>(calls_ns), 50e3);
}

/// Silences a rank's HCA when a repetition begins.
class Silencer final : public SessionObserver {
public:
    explicit Silencer(std::uint32_t rank) : rank_(rank) {}
    void attach(VirtualRun& run) { run_ = &run; }
    void segment_started(Instant, const Segment& segment) override {
        if (!segment.measured || segment.repetition != 1) return;
        run_->impair(rank_, {.drop = 1.0});
        silenced_at = run_->now();
    }
    Instant silenced_at{};

private:
    std::uint32_t rank_;
    VirtualRun* run_ = nullptr;
};

SessionReport run_silenced(std::uint32_t ranks, std::uint32_t silent, VirtualRunOptions options,
                           Nanoseconds* until_end = nullptr) {
    options.session.repetitions = 3;
    const auto workload = all_reduce(ranks);
    Silencer silencer(silent);
    auto run = VirtualRun::create(workload, options, &silencer);
    EXPECT_TRUE(run.has_value());
    silencer.attach(**run);
    SessionReport report = (*run)->run();
    if (until_end != nullptr) *until_end = (*run)->now() - silencer.silenced_at;
    return report;
}

TEST(Stall, TheSilentRankIsNamedWhateverItsPlace) {
    for (const std::uint32_t ranks : {2U, 3U, 5U}) {
        for (std::uint32_t silent = 0; silent < ranks; ++silent) {
            VirtualRunOptions options = quick_options();
            options.session.queue_pair.timeout = std::chrono::seconds{4};  // as long as NCCL's: never noticed in time
            Nanoseconds until_end{};
            const SessionReport report = run_silenced(ranks, silent, options, &until_end);
            EXPECT_EQ(report.outcome, Outcome::error);
            ASSERT_TRUE(report.error.has_value());
            EXPECT_EQ(report.error->code, ErrorCode::timeout);
            EXPECT_EQ(report.culprit, silent) << ranks << " ranks: " << report.reason;
            EXPECT_THAT(report.reason, HasSubstr(fmt::format("waits for rank {}, channel 0, step ", silent)));
            EXPECT_THAT(report.reason, HasSubstr("no progress for 5 s in repetition 1 of test"));
            EXPECT_LT(until_end, std::chrono::milliseconds{5'200});
            EXPECT_EQ(report.measurements[0].iteration_ns.size(), 2U);  // repetition 0, and what was had of 1
            EXPECT_EQ(report.measurements[0].iteration_ns[0].size(), 2U);
            EXPECT_LT(report.measurements[0].iteration_ns[1].size(), 2U);
        }
    }
}

TEST(Failure, AQueuePairThatGivesUpEndsTheRunAtOnceAndNamesItsEnds) {
    for (const std::uint32_t ranks : {2U, 4U}) {
        VirtualRunOptions options = quick_options();
        options.session.queue_pair.retry_limit = 3;
        Nanoseconds until_end{};
        const SessionReport report = run_silenced(ranks, 1, options, &until_end);
        EXPECT_EQ(report.outcome, Outcome::error);
        ASSERT_TRUE(report.error.has_value());
        EXPECT_EQ(report.error->code, ErrorCode::device);
        EXPECT_THAT(report.reason, HasSubstr("usual causes: the peer is gone, its path drops frames"));
        EXPECT_THAT(report.reason, HasSubstr("rank 1"));
        if (ranks > 2) {
            EXPECT_EQ(report.culprit, 1U) << report.reason;
        }
        EXPECT_LT(until_end, std::chrono::milliseconds{100});
    }
}

TEST(Stop, OneSignalFinishesTheRepetitionTwoDropIt) {
    for (const int signals : {1, 2}) {
        std::atomic<int> stop{0};
        class Stopper final : public SessionObserver {
        public:
            Stopper(std::atomic<int>& stop, int signals) : stop_(&stop), signals_(signals) {}
            void segment_started(Instant, const Segment& segment) override {
                if (segment.repetition == 1) stop_->store(signals_);
            }

        private:
            std::atomic<int>* stop_;
            int signals_;
        } stopper(stop, signals);
        VirtualRunOptions options = quick_options();
        options.session.repetitions = 5;
        options.session.stop = &stop;
        const auto workload = all_reduce(3);
        auto run = VirtualRun::create(workload, options, &stopper);
        ASSERT_TRUE(run.has_value());
        const SessionReport report = (*run)->run();
        EXPECT_EQ(report.outcome, Outcome::interrupted);
        ASSERT_EQ(report.measurements[0].iteration_ns.size(), 2U);
        EXPECT_EQ(report.measurements[0].iteration_ns[1].size(), signals == 1 ? 2U : 0U);
        EXPECT_THAT(report.reason, HasSubstr(signals == 1 ? "stopped before repetition 2" : "aborted in repetition 1"));
    }
}

TEST(Stop, ADrainThatTakesTooLongBecomesAnAbort) {
    std::atomic<int> stop{0};
    auto workload = all_reduce(2);
    workload.measurements[0].jobs[0].calls[0].gap = std::chrono::hours{1};
    class Late final : public SessionObserver {
    public:
        explicit Late(std::atomic<int>& stop) : stop_(&stop) {}
        void segment_started(Instant, const Segment&) override { stop_->store(1); }

    private:
        std::atomic<int>* stop_;
    } late(stop);
    VirtualRunOptions options = quick_options();
    options.session.stop = &stop;
    auto run = VirtualRun::create(workload, options, &late);
    ASSERT_TRUE(run.has_value());
    const SessionReport report = (*run)->run();
    EXPECT_EQ(report.outcome, Outcome::interrupted);
    EXPECT_LT((*run)->now(), Instant{std::chrono::seconds{11}});
}

TEST(Latency, EveryDataMessageOfMeasuredSegmentsIsOneSample) {
    VirtualRunOptions options = quick_options();
    options.session.warmup = 2;
    options.session.repetitions = 2;
    options.session.checking = Checking::none;
    const auto workload = all_reduce(4);
    const SessionReport report = run_virtually(workload, options);
    const auto schedule = collective::make_schedule(workload.measurements[0].jobs[0].calls[0].call).value();
    std::uint64_t messages = 0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) messages += schedule->totals(rank).messages_sent;
    EXPECT_EQ(report.measurements[0].message_latency.count(), messages * 2 * 2);
    EXPECT_GT(*report.measurements[0].message_latency.min(), 4'000);  // there and back: two latencies
}

TEST(Lateness, ASlowPortIsSeenInTheRanksThatWaitForIt) {
    VirtualRunOptions options = quick_options();
    options.session.queue_pair.timeout = std::chrono::milliseconds{20};  // acknowledgements queue behind slow data
    options.impair.push_back({1, {.rate = BitsPerSecond{1e9}}});
    const SessionReport slow = run_virtually(all_reduce(3), options);
    ASSERT_EQ(slow.outcome, Outcome::pass) << slow.reason;
    const SessionReport fast = run_virtually(all_reduce(3), quick_options());
    EXPECT_GT(slow.measurements[0].iteration_ns[0][0], 5 * fast.measurements[0].iteration_ns[0][0]);
    ASSERT_EQ(slow.ranks.size(), 3U);
    for (const measure::RankResult& rank : slow.ranks) EXPECT_TRUE(rank.max_lateness_ns.has_value());
}

TEST(Setup, WhatCannotBeIsRefusedInOneLine) {
    VirtualRunOptions options = quick_options();
    options.session.slots = 0;
    EXPECT_THAT(run_virtually(all_reduce(2), options).reason, HasSubstr("0 landing slots"));
    const auto half = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float16, 8)});
    EXPECT_THAT(run_virtually(half, quick_options()).reason,
                HasSubstr("all_reduce[0]: the host cannot add float16; use float32"));
}

}  // namespace
}  // namespace gradstorm::replay
