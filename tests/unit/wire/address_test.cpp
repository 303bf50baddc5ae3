// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/address.h"

#include <gtest/gtest.h>

#include <set>

namespace gradstorm::wire {
namespace {

TEST(Address, MacIsReadAndPrinted) {
    for (const auto* text : {"02:00:c6:12:00:01", "02-00-C6-12-00-01"}) {
        const auto mac = parse_mac(text);
        ASSERT_TRUE(mac) << text;
        EXPECT_EQ(mac->octets, (std::array<std::uint8_t, 6>{0x02, 0x00, 0xC6, 0x12, 0x00, 0x01}));
        EXPECT_EQ(to_string(*mac), "02:00:c6:12:00:01");
    }
}

TEST(Address, BadMacIsRefusedWithItsText) {
    for (const auto* text : {"", "02:00:c6:12:00", "02:00:c6:12:00:01:02", "02:00:c6:12:00:0g", "02:00-c6:12:00:01",
                             "0200c6120001", " 2:00:c6:12:00:01", "+2:00:c6:12:00:01", "02.00.c6.12.00.01"}) {
        const auto mac = parse_mac(text);
        ASSERT_FALSE(mac) << text;
        EXPECT_EQ(mac.error().code, ErrorCode::invalid_input);
        EXPECT_NE(mac.error().message.find(text), std::string::npos);
    }
}

TEST(Address, Ipv4IsKeptMapped) {
    const auto ip = parse_ip("198.18.0.1");
    ASSERT_TRUE(ip);
    EXPECT_TRUE(ip->is_v4());
    EXPECT_EQ(to_string(*ip), "198.18.0.1");
    EXPECT_EQ(*ip, *parse_ip("::ffff:198.18.0.1"));
}

TEST(Address, Ipv6IsReadAndPrinted) {
    const auto ip = parse_ip("fd00:0:0::00aB");
    ASSERT_TRUE(ip);
    EXPECT_FALSE(ip->is_v4());
    EXPECT_EQ(to_string(*ip), "fd00::ab");
    EXPECT_FALSE(IpAddress{}.is_v4());
    EXPECT_EQ(to_string(IpAddress{}), "::");
}

TEST(Address, BadIpIsRefusedWithItsText) {
    using namespace std::string_view_literals;
    for (const auto text : {""sv, "198.18.0"sv, "198.18.0.256"sv, "198.18.0.1/24"sv, "fd00::1::2"sv, "host"sv,
                            "198.18.0.1\0junk"sv, "fd00::1\0"sv}) {
        const auto ip = parse_ip(text);
        ASSERT_FALSE(ip) << text;
        EXPECT_EQ(ip.error().code, ErrorCode::invalid_input);
    }
}

TEST(Address, EmulatedHcasAreUniqueAndInTheBenchmarkRange) {
    EXPECT_EQ(to_string(emulated_hca_address(0).ip), "198.18.0.1");
    EXPECT_EQ(to_string(emulated_hca_address(0).mac), "02:00:c6:12:00:01");
    EXPECT_EQ(to_string(emulated_hca_address(254).ip), "198.18.0.255");
    EXPECT_EQ(to_string(emulated_hca_address(131'069).ip), "198.19.255.254");
    std::set<HcaAddress> seen;
    std::set<MacAddress> macs;
    for (std::uint32_t i = 0; i < 131'070; ++i) {
        const auto hca = emulated_hca_address(i);
        EXPECT_EQ(hca.mac.octets[0], 0x02) << "locally administered, not multicast";
        seen.insert(hca);
        macs.insert(hca.mac);
    }
    EXPECT_EQ(seen.size(), 131'070U);
    EXPECT_EQ(macs.size(), 131'070U);
}

}  // namespace
}  // namespace gradstorm::wire
