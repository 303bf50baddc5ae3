// SPDX-License-Identifier: Apache-2.0
#include "engine/app/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gradstorm::app {
namespace {

using testing::HasSubstr;

plan::Plan plan_with(std::vector<std::string> set) {
    set.push_back("transport.line_rate=100Gb/s");
    const auto subject =
        load_subject({.subject = "allreduce-sweep-8", .set = std::move(set), .testbed = {}, .dut = {}, .dut_file = {}});
    EXPECT_TRUE(subject) << subject.error();
    return subject->plan;
}

TEST(Subject, AFileThatBeginsLikeATraceIsOneWhateverItsName) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "rank0.trace";
    std::ofstream(path) << "{\"schema\": \"9.9\"}";
    const auto refused = load_subject({.subject = path.string(), .set = {}, .testbed = {}, .dut = {}, .dut_file = {}});
    std::filesystem::remove(path);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error(), HasSubstr("schema")) << "not as TOML";
}

TEST(Assumptions, WithAStepLatencyShortMessagesAreBoundByIt) {
    const plan::Plan plan = plan_with({"transport.step_latency=2us"});
    const auto bound = [&](const plan::MeasurementPlan& measurement) { return measurement.calls[0].ideal->bound; };
    EXPECT_EQ(bound(plan.measurements.front()), "latency: 14 steps of 2 us");
    EXPECT_EQ(plan.measurements.front().calls[0].ideal->alpha, Nanoseconds{28'000});
    EXPECT_THAT(bound(plan.measurements.back()), HasSubstr("bandwidth"));
}

TEST(Assumptions, WithoutOneIdealTimesRestOnBandwidthAlone) {
    EXPECT_EQ(plan_with({}).measurements.front().calls[0].ideal->alpha, Nanoseconds{0});
}

TEST(Assumptions, TheAddressesOfPortsSayWhichIpTheyAreFor) {
    profiles::Profile profile;
    profile.ports.resize(1);
    profile.ports[0].address = "198.18.0.1/24";
    EXPECT_FALSE(assumptions_of(profile).ipv6);
    profile.ports[0].address = "fd00::1/64";
    EXPECT_TRUE(assumptions_of(profile).ipv6);
}

}  // namespace
}  // namespace gradstorm::app
