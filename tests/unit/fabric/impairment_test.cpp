// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/impairment.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gradstorm::fabric {
namespace {

struct Packet {
    explicit Packet(std::vector<int> bytes) {
        for (const int byte : bytes) data.push_back(static_cast<std::byte>(byte));
    }
    wire::Frame frame() { return {data.data(), 0, static_cast<std::uint16_t>(data.size()), 0}; }
    std::vector<std::byte> data;
};

/// Ethernet, optional VLAN tag, IPv4 with TOS, UDP to 4791, BTH of an ACK. The IPv4 checksum is right.
Packet ipv4_packet(int tos, bool vlan = false) {
    std::vector<int> ip = {0x45, tos, 0, 48, 0, 0, 0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2};
    int sum = 0;
    for (std::size_t i = 0; i < ip.size(); i += 2) sum += ip[i] << 8 | ip[i + 1];
    sum = (sum & 0xFFFF) + (sum >> 16);
    ip[10] = ~sum >> 8 & 0xFF;
    ip[11] = ~sum & 0xFF;
    std::vector<int> all = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
    if (vlan) all.insert(all.end(), {0x81, 0x00, 0x60, 0x05});
    all.insert(all.end(), {0x08, 0x00});
    all.insert(all.end(), ip.begin(), ip.end());
    all.insert(all.end(), {0xC0, 0, 0x12, 0xB7, 0, 28, 0, 0});                // UDP
    all.insert(all.end(), {0x11, 0x40, 0xFF, 0xFF, 0, 0, 0, 7, 0, 0, 0, 9});  // BTH
    all.insert(all.end(), {0, 0, 0, 0, 1, 2, 3, 4});                          // AETH, ICRC
    return Packet(all);
}

Packet ipv6_packet(int traffic_class) {
    std::vector<int> all = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xDD};
    all.insert(all.end(), {0x60 | traffic_class >> 4, (traffic_class & 0xF) << 4, 0, 0, 0, 28, 17, 64});
    for (int i = 0; i < 32; ++i) all.push_back(i);
    all.insert(all.end(), {0xC0, 0, 0x12, 0xB7, 0, 28, 0, 0});
    all.insert(all.end(), {0x0A, 0x40, 0xFF, 0xFF, 0, 0, 0, 7, 0, 0, 0, 9});
    return Packet(all);
}

int ones_complement_sum(const std::vector<std::byte>& data, std::size_t begin, std::size_t size) {
    int sum = 0;
    for (std::size_t i = begin; i < begin + size; i += 2) {
        sum += std::to_integer<int>(data[i]) << 8 | std::to_integer<int>(data[i + 1]);
    }
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

TEST(MarkCongestion, MarksEveryCapableIpv4FrameAndMendsTheChecksum) {
    for (const bool vlan : {false, true}) {
        for (int tos = 0; tos < 256; ++tos) {
            Packet packet = ipv4_packet(tos, vlan);
            const auto before = packet.data;
            const std::size_t ip = vlan ? 18 : 14;
            ASSERT_EQ(ones_complement_sum(packet.data, ip, 20), 0xFFFF);
            const bool capable = (tos & 3) == 1 || (tos & 3) == 2;
            ASSERT_EQ(mark_congestion(packet.frame()), capable) << tos;
            ASSERT_EQ(std::to_integer<int>(packet.data[ip + 1]), capable ? tos | 3 : tos);
            ASSERT_EQ(ones_complement_sum(packet.data, ip, 20), 0xFFFF) << tos;
            for (std::size_t i = 0; i < packet.data.size(); ++i) {
                if (i != ip + 1 && i != ip + 10 && i != ip + 11) {
                    ASSERT_EQ(packet.data[i], before[i]);
                }
            }
        }
    }
}

TEST(MarkCongestion, MarksIpv6) {
    Packet capable = ipv6_packet(26 << 2 | 2);
    EXPECT_TRUE(mark_congestion(capable.frame()));
    EXPECT_EQ(capable.data, ipv6_packet(26 << 2 | 3).data);
    Packet incapable = ipv6_packet(26 << 2);
    EXPECT_FALSE(mark_congestion(incapable.frame()));
}

TEST(MarkCongestion, LeavesOtherTrafficAlone) {
    Packet arp({2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4});
    EXPECT_FALSE(mark_congestion(arp.frame()));
    Packet truncated = ipv4_packet(2);
    truncated.data.resize(20);
    EXPECT_FALSE(mark_congestion(truncated.frame()));
}

TEST(OpcodeOf, FindsTheBth) {
    EXPECT_EQ(opcode_of(ipv4_packet(0).frame()), wire::Opcode::acknowledge);
    EXPECT_EQ(opcode_of(ipv4_packet(0, true).frame()), wire::Opcode::acknowledge);
    EXPECT_EQ(opcode_of(ipv6_packet(0).frame()), wire::Opcode::write_only);
    EXPECT_TRUE(has_opcode(wire::Opcode::write_only)(ipv6_packet(0).frame()));
    Packet other_port = ipv4_packet(0);
    other_port.data[37] = std::byte{0};
    EXPECT_EQ(opcode_of(other_port.frame()), std::nullopt);
    Packet truncated = ipv4_packet(0);
    truncated.data.resize(50);
    EXPECT_EQ(opcode_of(truncated.frame()), std::nullopt);
}

TEST(FlipBit, CountsFromTheMostSignificantBitOfTheFirstByte) {
    Packet packet({0, 0, 0});
    flip_bit(packet.frame(), 9);
    EXPECT_EQ(packet.data, Packet({0, 0x40, 0}).data);
}

}  // namespace
}  // namespace gradstorm::fabric
