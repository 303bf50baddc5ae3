// SPDX-License-Identifier: Apache-2.0
//
// Whole runs in virtual time: every collective ends with the right data in every rank's memory.
#include "tests/unit/replay/workloads.h"

#include <gtest/gtest.h>

#include <string>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using measure::Outcome;

void expect_right(const SessionReport& report, const std::string& what) {
    ASSERT_EQ(report.outcome, Outcome::pass) << what << ": " << report.reason;
    for (const measure::MeasurementResult& measurement : report.measurements) {
        for (const measure::CallResult& call : measurement.calls) {
            ASSERT_TRUE(call.wrong_elements.has_value()) << what;
            EXPECT_EQ(*call.wrong_elements, 0U) << what;
        }
    }
}

TEST(AllReduce, TwoRanksEndWithTheSum) {
    const auto workload = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 1'000'004)});
    const SessionReport report = run_virtually(workload, quick_options());
    expect_right(report, "two ranks");
    const measure::CallResult& call = report.measurements[0].calls[0];
    ASSERT_EQ(call.completion_ns.size(), 1U);
    ASSERT_EQ(call.completion_ns[0].size(), 2U);
    // 1,000,004 bytes each way at 100 Gb/s and 4096/4170 goodput take 81 us; a hop takes 2.
    EXPECT_GT(call.completion_ns[0][0], 81'000);
    EXPECT_LT(call.completion_ns[0][0], 200'000);
}

class EveryCollective : public testing::TestWithParam<CollectiveKind> {};

/// n from 2 to 9; channels, slots, send depth, type and size change with it, and 1 % of all frames are lost.
TEST_P(EveryCollective, EndsWithTheRightDataDespiteLoss) {
    std::uint64_t dropped = 0;
    for (std::uint32_t n = 2; n <= 9; ++n) {
        for (const DataType type : {DataType::float32, DataType::bfloat16}) {
            const std::uint32_t channels = 1 + n % 3;
            const std::uint64_t elements = type == DataType::float32 ? 30'011 + n : 777 * n + 5;
            const auto workload =
                workload_of(n, {call_on_all(n, GetParam(), type, elements * measure::size_of(type), channels)});
            VirtualRunOptions options = quick_options();
            options.session.seed = n;
            options.session.slots = 1 + (n * 3) % 8;
            options.session.queue_pair.send_depth = n % 2 == 0 ? 1 : 16;
            options.session.queue_pair.path_mtu = n % 4 == 0 ? 256 : 1024;
            options.workers = 1 + n % 3;
            options.impair_all.drop = 0.01;
            auto run = VirtualRun::create(workload, options);
            ASSERT_TRUE(run.has_value()) << run.error().message;
            const SessionReport report = (*run)->run();
            expect_right(report, fmt::format("{} ranks, {}", n, measure::to_string(type)));
            dropped += (*run)->dropped_frames();
        }
    }
    EXPECT_GT(dropped, 0U);
}
INSTANTIATE_TEST_SUITE_P(Kinds, EveryCollective,
                         testing::Values(CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_gather, CollectiveKind::broadcast,
                                         CollectiveKind::all_to_all, CollectiveKind::send_receive),
                         [](const auto& parameter) { return std::string(measure::to_string(parameter.param)); });

TEST(Collectives, TinyAndEmptyCallsFinish) {
    for (const std::uint64_t elements : {0U, 1U, 2U, 5U}) {
        std::vector<workload::PlannedCall> calls;
        for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                CollectiveKind::broadcast, CollectiveKind::reduce_scatter}) {
            calls.push_back(call_on_all(5, kind, DataType::float32, elements * 4, 3));
        }
        expect_right(run_virtually(workload_of(5, std::move(calls)), quick_options()), fmt::format("{}", elements));
    }
}

TEST(Collectives, EightRanksOnOneWorkerWithSendDepthOneFinish) {
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                            CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
        VirtualRunOptions options = quick_options();
        options.session.queue_pair.send_depth = 1;
        options.session.queue_pair.receive_depth = 1;
        options.session.slots = 1;
        options.session.iterations = 3;
        const auto workload = workload_of(8, {call_on_all(8, kind, DataType::float32, 100'004, 2)});
        expect_right(run_virtually(workload, options), std::string(measure::to_string(kind)));
    }
}

TEST(Collectives, CallsOfDifferentGroupsAndJobsShareTheRanks) {
    auto workload = workload_of(4, {});
    auto left = call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 40'000);
    auto right = left;
    right.group = {2, 3};
    auto reversed = call_on_all(4, CollectiveKind::broadcast, DataType::bfloat16, 5'002, 2);
    reversed.group = {3, 1, 0, 2};
    reversed.call.root = 1;
    workload.measurements[0].jobs[0].calls = {left, right, reversed};
    auto other = call_on_all(4, CollectiveKind::all_to_all, DataType::int32, 12'340);
    workload.measurements[0].jobs.push_back({"other", true, {other, other}});
    expect_right(run_virtually(workload, quick_options()), "groups");
}

TEST(Collectives, SweepsReuseConnectionsAndCountOn) {
    workload::Workload workload;
    workload.ranks = 3;
    for (std::uint64_t bytes = 8; bytes <= 131'072; bytes *= 4) {
        workload.measurements.push_back(
            {fmt::format("{} B", bytes),
             {{"sweep", false, {call_on_all(3, CollectiveKind::all_reduce, DataType::float32, bytes, 2)}}}});
    }
    VirtualRunOptions options = quick_options();
    options.session.warmup = 1;
    options.session.repetitions = 2;
    options.session.checking = Checking::last;
    const SessionReport report = run_virtually(workload, options);
    expect_right(report, "sweep");
    ASSERT_EQ(report.measurements.size(), workload.measurements.size());
    for (const auto& measurement : report.measurements) EXPECT_EQ(measurement.iteration_ns.size(), 2U);
}

TEST(Collectives, SyntheticPayloadMovesTheSameBytesAndChecksNothing) {
    VirtualRunOptions options = quick_options();
    options.session.payload = Payload::synthetic;
    const std::uint64_t bytes = 1'000'000;
    const auto workload = workload_of(4, {call_on_all(4, CollectiveKind::all_reduce, DataType::float32, bytes)});
    const SessionReport report = run_virtually(workload, options);
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    EXPECT_FALSE(report.measurements[0].calls[0].wrong_elements.has_value());
    ASSERT_EQ(report.ports.size(), 4U);
    for (const measure::PortResult& port : report.ports) {
        EXPECT_EQ(port.payload_bytes, 2 * 2 * 3 * bytes / 4);  // iterations x 2(n-1)/n x S
        EXPECT_EQ(port.rx_payload_bytes, port.payload_bytes);
        EXPECT_EQ(port.retransmitted_frames, 0U);
        EXPECT_GT(port.clear_to_send_frames, 0U);
        EXPECT_GT(port.communicating_ns, 0);
    }
}

}  // namespace
}  // namespace gradstorm::replay
