// SPDX-License-Identifier: Apache-2.0
//
// Sessions with threads and the real clock, over the loopback transport. Also what ThreadSanitizer looks at.
#include "engine/replay/real_driver.h"

#include "tests/unit/replay/loopback_endpoint.h"
#include "tests/unit/replay/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using measure::Outcome;

struct RealRun {
    RealRun(const workload::Workload& workload, std::uint32_t workers, SessionOptions options,
            const RealDriverOptions& driver_options)
        : driver(measure::TscClock::calibrate(std::chrono::milliseconds{5}), driver_options) {
        std::vector<transport::Endpoint*> pointers;
        for (std::uint32_t i = 0; i < workers; ++i) {
            const std::size_t hcas = (workload.ranks + workers - 1) / workers;
            endpoints.push_back(std::make_unique<LoopbackEndpoint>(network, hcas, options.payload == Payload::memory));
            pointers.push_back(endpoints.back().get());
        }
        for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
            options.ranks.push_back({0, rank % workers, rank / workers});
        }
        auto made = Session::create(options, {.workload = &workload,
                                              .endpoints = pointers,
                                              .rendezvous = &rendezvous,
                                              .driver = &driver,
                                              .observer = nullptr});
        EXPECT_TRUE(made.has_value()) << made.error().message;
        session = std::move(*made);
    }

    LoopbackNetwork network;
    std::vector<std::unique_ptr<LoopbackEndpoint>> endpoints;
    cluster::LocalRendezvous rendezvous;
    std::unique_ptr<Session> session;
    RealDriver driver;  // ends its threads before anything that they use
};

SessionOptions quick_session() {
    SessionOptions options = quick_options().session;
    options.warmup = 2;
    options.repetitions = 3;
    options.iterations = 5;
    return options;
}

class IdlePolicies : public testing::TestWithParam<IdlePolicy> {};

TEST_P(IdlePolicies, ManyRanksOnTwoThreadsEndWithTheRightData) {
    const auto workload = workload_of(5, {call_on_all(5, CollectiveKind::all_reduce, DataType::bfloat16, 60'002, 2),
                                          call_on_all(5, CollectiveKind::all_to_all, DataType::float32, 9'000)});
    RealRun run(workload, 2, quick_session(), {.idle = GetParam()});
    const SessionReport report = run.session->run();
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    EXPECT_EQ(report.measurements[0].calls[0].wrong_elements, 0U);
    EXPECT_EQ(report.measurements[0].iteration_ns.size(), 3U);
    for (const auto& repetition : report.measurements[0].iteration_ns) {
        for (const std::int64_t time : repetition) EXPECT_GT(time, 0);
    }
    EXPECT_GT(report.self_check.busy_share, 0.0);
}
INSTANTIATE_TEST_SUITE_P(All, IdlePolicies, testing::Values(IdlePolicy::spin, IdlePolicy::yield, IdlePolicy::wait),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST(RealDriver, GapsTakeTheirTimeAndAreNoStall) {
    auto workload = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 8)});
    workload.measurements[0].jobs[0].calls[0].gap = std::chrono::milliseconds{60};
    SessionOptions options = quick_session();
    options.warmup = 0;
    options.repetitions = 1;
    options.iterations = 2;
    options.stall_timeout = std::chrono::milliseconds{50};
    RealRun run(workload, 1, options, {});
    const SessionReport report = run.session->run();
    ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
    for (const std::int64_t time : report.measurements[0].iteration_ns[0]) EXPECT_GE(time, 60'000'000);
}

TEST(RealDriver, AStandstillEndsTheRunWithTheWaitingNamed) {
    const auto workload = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 4'000)});
    SessionOptions options = quick_session();
    options.stall_timeout = std::chrono::milliseconds{100};
    RealRun run(workload, 2, options, {});
    run.endpoints[1]->freeze();
    const SessionReport report = run.session->run();
    EXPECT_EQ(report.outcome, Outcome::error);
    EXPECT_THAT(report.reason, testing::ContainsRegex("no progress for 0.1 s in warm-up of test: rank [01] waits for"));
    EXPECT_EQ(report.error->code, ErrorCode::timeout);
}

TEST(IdlePolicy, SpinsOnlyOnCoresOfItsOwn) {
    EXPECT_EQ(automatic_idle_policy(2, 2), IdlePolicy::spin);
    EXPECT_EQ(automatic_idle_policy(3, 2), IdlePolicy::yield);
    EXPECT_GE(usable_cores(), 1U);
}

}  // namespace
}  // namespace gradstorm::replay
