// SPDX-License-Identifier: Apache-2.0
#include "engine/app/port_accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradstorm::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PortAccount port(const std::string& what, transport::PortStatistics seen) {
    return {.what = what, .statistics = [seen] { return seen; }, .faults = {}};
}

TEST(PortAccounts, AreSummedOverPortsAndKeepTheFullestRing) {
    measure::SelfCheck check;
    check.verdict = "ok";
    const std::vector<PortAccount> ports{port("a", {.send_refusals = 3, .ring_high_water = 0.25}), port("b", {}),
                                         port("c", {.send_refusals = 4, .ring_high_water = 0.125})};
    add_port_statistics(check, ports);
    EXPECT_EQ(check.send_refusals, 7U);
    EXPECT_EQ(check.ring_high_water, 0.25);
    EXPECT_EQ(check.verdict, "ok");
}

TEST(PortAccounts, ARingThatNobodyCanSeeStaysUnknown) {
    measure::SelfCheck check;
    check.verdict = "ok";
    add_port_statistics(check, std::vector{port("a", {})});
    EXPECT_EQ(check.ring_high_water, std::nullopt);
}

TEST(PortAccounts, FramesThatAPortLostAreTheVerdictUnlessThereIsAGraverOne) {
    const std::vector<PortAccount> ports{port("worker 1 (ranks 3)", {.lost_frames = 12})};
    measure::SelfCheck check;
    check.verdict = "ok";
    add_port_statistics(check, ports);
    EXPECT_THAT(check.verdict, HasSubstr("worker 1 (ranks 3) lost 12 frames"));
    check.verdict = "worker 0 was kept from running";
    add_port_statistics(check, ports);
    EXPECT_EQ(check.verdict, "worker 0 was kept from running");
}

TEST(PortAccounts, SayWhatInjectedFaultsDid) {
    std::vector<PortAccount> ports{port("worker 0 (ranks 0)", {}), port("worker 1 (ranks 1)", {})};
    ports[1].faults = [] { return fabric::ImpairmentCounters{.frames = 1000, .dropped = 11, .held = 1000}; };
    EXPECT_THAT(fault_accounts(ports), ElementsAre("worker 1 (ranks 1): 1000 frames sent through injected faults: 11 "
                                                   "dropped (1.1 %), 1000 delayed (100 %)"));
}

}  // namespace
}  // namespace gradstorm::app
