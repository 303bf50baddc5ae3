// SPDX-License-Identifier: Apache-2.0
//
// Two sessions that are one run: each with its own driver, meeting at a socket, as two processes would. Here they are
// threads, so that they can share the loopback transport.
#include "engine/cluster/stream_rendezvous.h"
#include "engine/replay/real_driver.h"
#include "tests/unit/replay/loopback_endpoint.h"
#include "tests/unit/replay/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using measure::Outcome;
using testing::HasSubstr;

/// Ranks 0 and 1 live on node 0, ranks 2 and 3 on node 1.
class TwoNodes {
public:
    explicit TwoNodes(const std::function<void(std::uint32_t node, SessionOptions&)>& adjust = {}) {
        std::array<std::thread, 2> threads;
        for (std::uint32_t node = 0; node < 2; ++node) {
            threads[node] = std::thread([this, node, adjust] { reports[node] = run_node(node, adjust); });
        }
        for (std::thread& thread : threads) thread.join();
    }

    std::array<SessionReport, 2> reports;
    std::array<std::atomic<int>, 2> stop{};

private:
    SessionReport run_node(std::uint32_t node, const std::function<void(std::uint32_t, SessionOptions&)>& adjust) {
        SessionReport refused;
        auto rendezvous = cluster::StreamRendezvous::join(path_, node, 2, std::chrono::seconds{10});
        if (!rendezvous) return refused;
        LoopbackEndpoint endpoint(network_, 2, true);
        SessionOptions options = quick_options().session;
        options.repetitions = 3;
        options.stop = &stop[node];
        for (std::uint32_t rank = 0; rank < 4; ++rank) options.ranks.push_back({rank / 2, 0, rank % 2});
        if (adjust) adjust(node, options);
        std::unique_ptr<Session> session;
        RealDriver driver(measure::TscClock::calibrate(std::chrono::milliseconds{5}), {.idle = IdlePolicy::wait});
        auto made = Session::create(options, {.workload = &workload_,
                                              .endpoints = {&endpoint},
                                              .rendezvous = rendezvous->get(),
                                              .driver = &driver,
                                              .observer = nullptr});
        if (!made) {
            refused.reason = made.error().message;
            ++left_;
            return refused;
        }
        session = std::move(*made);
        SessionReport report = session->run();
        // Endpoints go away together: the other node's worker may still be looking at this one's.
        (void)cluster::exchange(**rendezvous, "leave", {}, std::chrono::seconds{2});
        ++left_;
        while (left_ < 2) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        return report;
    }

    workload::Workload workload_ =
        workload_of(4, {call_on_all(4, CollectiveKind::all_reduce, DataType::float32, 40'004, 2),
                        call_on_all(4, CollectiveKind::broadcast, DataType::bfloat16, 1'002),
                        call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 4'004)});  // of node 0 alone
    std::filesystem::path path_ = fmt::format("/tmp/gradstorm-nodes-{}.sock", getpid());
    LoopbackNetwork network_;
    std::atomic<int> left_{0};
};

TEST(TwoNodes, RunAsOneAndEachReportsItsRanks) {
    const TwoNodes run;
    for (const SessionReport& report : run.reports) {
        ASSERT_EQ(report.outcome, Outcome::pass) << report.reason;
        EXPECT_EQ(report.measurements[0].calls[0].wrong_elements, 0U);
        EXPECT_EQ(report.measurements[0].iteration_ns.size(), 3U);
        EXPECT_EQ(report.ports.size(), 2U);
        EXPECT_EQ(report.ranks.size(), 2U);
    }
    EXPECT_EQ(run.reports[0].ranks[0].rank, 0U);
    EXPECT_EQ(run.reports[1].ranks[0].rank, 2U);
}

TEST(TwoNodes, ACallOfTheOtherNodeHasNoTimes) {
    const TwoNodes run;
    const auto& here = run.reports[0].measurements.at(0).calls.at(2).completion_ns;
    const auto& elsewhere = run.reports[1].measurements.at(0).calls.at(2).completion_ns;
    ASSERT_EQ(here.size(), 3U);
    ASSERT_EQ(elsewhere.size(), 3U);
    for (std::size_t repetition = 0; repetition < 3; ++repetition) {
        EXPECT_FALSE(here[repetition].empty());
        EXPECT_THAT(elsewhere[repetition], testing::IsEmpty());
    }
}

TEST(TwoNodes, OneUserWhoAbortsEndsBoth) {
    const TwoNodes run([](std::uint32_t node, SessionOptions& options) {
        options.iterations = 100'000;
        options.checking = Checking::none;
        if (node == 1) {
            static std::atomic<int> stop{2};  // from the first look on
            options.stop = &stop;
        }
    });
    EXPECT_EQ(run.reports[1].outcome, Outcome::interrupted);
    EXPECT_THAT(run.reports[0].outcome, testing::AnyOf(Outcome::interrupted, Outcome::error));
    EXPECT_THAT(run.reports[0].reason,
                testing::AnyOf(HasSubstr("interrupted by the user"), HasSubstr("stopped before")));
}

TEST(TwoNodes, DifferentProfilesAreRefused) {
    const TwoNodes run([](std::uint32_t node, SessionOptions& options) {
        if (node == 1) options.repetitions = 2;
    });
    EXPECT_THAT(run.reports[0].reason + run.reports[1].reason, HasSubstr("is in phase"));
}

TEST(TwoNodes, WhatOneCannotDoReachesTheOther) {
    const TwoNodes run([](std::uint32_t node, SessionOptions& options) {
        if (node == 1) options.slots = 0;
    });
    EXPECT_THAT(run.reports[1].reason, HasSubstr("0 landing slots"));
    EXPECT_THAT(run.reports[0].reason, HasSubstr("gave up: 0 landing slots"));
}

}  // namespace
}  // namespace gradstorm::replay
