// SPDX-License-Identifier: Apache-2.0
//
// A transport that lies: messages and credits that cannot be are recognised and end the run with a reason.
#include "engine/replay/virtual_driver.h"
#include "tests/unit/replay/loopback_endpoint.h"
#include "tests/unit/replay/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace gradstorm::replay {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using testing::HasSubstr;

/// Two ranks, an endpoint each; `tamper` changes what arrives at rank 1.
SessionReport run_with(const std::function<void(std::uint64_t, transport::Completion&)>& tamper) {
    const auto workload = workload_of(2, {call_on_all(2, CollectiveKind::all_reduce, DataType::float32, 400'000)});
    LoopbackNetwork network;
    LoopbackEndpoint zero(network, 1, true);
    LoopbackEndpoint one(network, 1, true);
    one.tamper = tamper;
    cluster::LocalRendezvous rendezvous;
    VirtualDriver driver;
    SessionOptions options = quick_options().session;
    options.ranks = {{0, 0, 0}, {0, 1, 0}};
    auto session = Session::create(options, {.workload = &workload,
                                             .endpoints = {&zero, &one},
                                             .rendezvous = &rendezvous,
                                             .driver = &driver,
                                             .observer = nullptr});
    EXPECT_TRUE(session.has_value());
    return (*session)->run();
}

TEST(BrokenProtocol, AnHonestTransportPasses) { EXPECT_EQ(run_with({}).outcome, measure::Outcome::pass); }

TEST(BrokenProtocol, AMessageOutOfOrderIsNamed) {
    const SessionReport report = run_with([](std::uint64_t, transport::Completion& arrived) {
        if (arrived.length != 0 && arrived.immediate == 4) arrived.immediate = 5;
    });
    EXPECT_EQ(report.outcome, measure::Outcome::error);
    EXPECT_THAT(report.reason, HasSubstr("rank 1 to rank 0, channel 0"));
    EXPECT_THAT(report.reason, HasSubstr("message 5 arrived where message 4 was expected"));
}

TEST(BrokenProtocol, AMessageOfAnotherLengthIsNamed) {
    const SessionReport report = run_with([](std::uint64_t, transport::Completion& arrived) {
        if (arrived.length != 0 && arrived.immediate == 2) arrived.length -= 4;
    });
    EXPECT_THAT(report.reason, testing::ContainsRegex("message 2 has [0-9]+ bytes instead of [0-9]+"));
}

TEST(BrokenProtocol, ACreditForMoreThanTheSlotsIsNamed) {
    const SessionReport report = run_with([](std::uint64_t, transport::Completion& arrived) {
        if (arrived.queue_pair == 1) arrived.immediate += 1000;
    });
    EXPECT_THAT(report.reason, HasSubstr("credit for message"));
}

TEST(BrokenProtocol, AFailedCompletionIsPutIntoWords) {
    const SessionReport report = run_with([](std::uint64_t number, transport::Completion& arrived) {
        if (number == 20) arrived.status = transport::CompletionStatus::remote_access_error;
    });
    EXPECT_THAT(report.reason, HasSubstr("remote access error (loopback queue pair 0)"));
    EXPECT_FALSE(report.events.empty());
}

TEST(BrokenProtocol, WhereAllIsFlushedTheQueuePairIsAskedWhy) {
    const SessionReport report = run_with([](std::uint64_t number, transport::Completion& arrived) {
        if (number >= 20) arrived.status = transport::CompletionStatus::flushed;
    });
    EXPECT_THAT(report.reason, testing::StartsWith("rank 1 to rank 0, channel 0, queue pair 0: flushed (loopback"));
    EXPECT_FALSE(report.events.empty());
}

}  // namespace
}  // namespace gradstorm::replay
