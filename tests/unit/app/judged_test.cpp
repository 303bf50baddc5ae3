// SPDX-License-Identifier: Apache-2.0
#include "engine/app/run_execution.h"
#include "engine/app/unhonoured.h"

#include <gtest/gtest.h>

namespace gradstorm::app {
namespace {

replay::SessionReport passed_with(const std::string& verdict) {
    replay::SessionReport report;
    report.outcome = measure::Outcome::pass;
    report.self_check.verdict = verdict;
    return report;
}

TEST(Judged, AGeneratorBoundRunOnARealNetworkCannotPass) {
    const auto [outcome, reason] = judged(passed_with("worker 1 was kept from running"), false);
    EXPECT_EQ(outcome, measure::Outcome::invalid);
    EXPECT_NE(reason.find("worker 1"), std::string::npos);
    EXPECT_EQ(measure::exit_code(outcome), 2);
}

TEST(Judged, OtherwiseTheSessionDecides) {
    EXPECT_EQ(judged(passed_with("worker 1 was kept from running"), true).first, measure::Outcome::pass);
    EXPECT_EQ(judged(passed_with("ok"), false).first, measure::Outcome::pass);
    replay::SessionReport failed = passed_with("worker 1 was kept from running");
    failed.outcome = measure::Outcome::error;
    failed.reason = "the peer is gone";
    EXPECT_EQ(judged(failed, false).second, "the peer is gone");
}

TEST(UnhonouredSettings, OnlyThoseThatWereChanged) {
    profiles::Profile profile;
    profile.resolved = {{"transport.qps_per_connection", "4"}, {"transport.congestion_control", "none"}};
    const std::vector<std::string> lines = unhonoured_settings(profile, false);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("transport.qps_per_connection = 4"), std::string::npos);
}

TEST(UnhonouredSettings, MoreOfThemInVirtualTime) {
    profiles::Profile profile;
    profile.resolved = {{"transport.capture", "frames.pcapng"}, {"transport.capture_port", "0"}};
    profile.transport.fabric = "ports";
    EXPECT_TRUE(unhonoured_settings(profile, false).empty());
    const std::vector<std::string> lines = unhonoured_settings(profile, true);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_NE(lines[0].find("transport.capture = frames.pcapng"), std::string::npos);
    EXPECT_NE(lines[1].find("transport.fabric = ports"), std::string::npos);
}

}  // namespace
}  // namespace gradstorm::app
