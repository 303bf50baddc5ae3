// SPDX-License-Identifier: Apache-2.0
#include "engine/app/rank_addresses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gradstorm::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const Result<std::vector<wire::IpAddress>>& addresses) {
    std::vector<std::string> all;
    if (addresses) {
        for (const wire::IpAddress& address : *addresses) all.push_back(wire::to_string(address));
    }
    return all;
}

std::vector<std::uint32_t> many(std::uint32_t count) {
    std::vector<std::uint32_t> ranks(count);
    for (std::uint32_t i = 0; i < count; ++i) ranks[i] = i;
    return ranks;
}

profiles::Profile two_ports(const std::string& first, const std::string& second) {
    profiles::Profile profile;
    profile.cluster.nodes = 1;
    profile.cluster.gpus_per_node = 6;
    profile.ports = {{.name = "left", .device = "net_null0", .address = first, .mac = {}, .node = 0},
                     {.name = "right", .device = "net_null1", .address = second, .mac = {}, .node = 0}};
    return profile;
}

TEST(RankAddresses, CountUpFromThatOfThePort) {
    EXPECT_THAT(texts(addresses_on_port({.name = "p", .device = {}, .address = "10.0.0.254/16", .mac = {}}, many(4))),
                ElementsAre("10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"));
    EXPECT_THAT(texts(addresses_on_port({.name = "p", .device = {}, .address = "fd00::ffff/64", .mac = {}}, many(2))),
                ElementsAre("fd00::ffff", "fd00::1:0"));
}

TEST(RankAddresses, StayInTheSubnet) {
    const profiles::PortSettings port{.name = "p", .device = {}, .address = "10.0.0.13/29", .mac = {}};
    EXPECT_EQ(texts(addresses_on_port(port, many(3))).size(), 3U);
    const auto refused = addresses_on_port(port, many(4));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("leave its subnet after 10.0.0.15"));
}

TEST(RankAddresses, AreEmulatedWhereThePortHasNone) {
    const auto addresses = addresses_on_port({.name = "p", .device = {}, .address = {}, .mac = {}}, many(600));
    ASSERT_TRUE(addresses);
    EXPECT_EQ(std::set(addresses->begin(), addresses->end()).size(), 600U);
}

TEST(RankAddresses, OfTwoPortsThatMeetAreRefusedByName) {
    EXPECT_TRUE(check_addresses_differ(two_ports("10.0.0.1/24", "10.0.0.4/24"), 6));
    const auto refused = check_addresses_differ(two_ports("10.0.0.1/24", "10.0.0.3/24"), 6);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("rank 4 on port left and rank 1 on port right"));
    EXPECT_THAT(refused.error().message, HasSubstr("10.0.0.3"));
}

TEST(RankAddresses, NeedAPortForEveryRank) {
    profiles::Profile profile = two_ports("10.0.0.1/24", "10.0.1.1/24");
    profile.cluster.nodes = 2;
    const auto refused = ranks_by_port(profile, many(12));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("rank 6 has no port"));
}

}  // namespace
}  // namespace gradstorm::app
