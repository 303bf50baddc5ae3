// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/forwarding_table.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace gradstorm::fabric {
namespace {

wire::MacAddress mac_of(std::uint64_t bits) {
    wire::MacAddress mac;
    for (std::size_t i = 0; i < 6; ++i) mac.octets[i] = static_cast<std::uint8_t>(bits >> (8 * (5 - i)));
    return mac;
}

TEST(ForwardingTable, EmptyTableKnowsNobody) {
    const ForwardingTable table;
    EXPECT_EQ(table.find(mac_of(0)), ForwardingTable::kNoPort);
    EXPECT_EQ(table.find(mac_of(0xFFFF'FFFF'FFFF)), ForwardingTable::kNoPort);
}

TEST(ForwardingTable, FindsEachOfManyAddressesAndNoOther) {
    ForwardingTable table;
    constexpr std::uint64_t kBase = 0x0200'0000'0000;
    for (std::uint64_t i = 0; i < 20'000; ++i) table.insert(mac_of(kBase + i), static_cast<std::uint16_t>(i % 777));
    EXPECT_EQ(table.size(), 20'000u);
    for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_EQ(table.find(mac_of(kBase + i)), i % 777);
    for (std::uint64_t i = 20'000; i < 40'000; ++i) {
        ASSERT_EQ(table.find(mac_of(kBase + i)), ForwardingTable::kNoPort);
    }
}

TEST(ForwardingTable, RandomAddresses) {
    std::mt19937_64 random(7);
    ForwardingTable table;
    std::set<std::uint64_t> known;
    for (int i = 0; i < 3000; ++i) known.insert(random() >> 16);
    std::uint16_t port = 0;
    for (const std::uint64_t bits : known) table.insert(mac_of(bits), port++);
    port = 0;
    for (const std::uint64_t bits : known) ASSERT_EQ(table.find(mac_of(bits)), port++);
}

TEST(ForwardingTable, AnAddressMovesWhenInsertedAgain) {
    ForwardingTable table;
    table.insert(mac_of(42), 1);
    table.insert(mac_of(42), 2);
    EXPECT_EQ(table.size(), 1u);
    EXPECT_EQ(table.find(mac_of(42)), 2);
}

TEST(ForwardingTable, LooksAtTheFirstSixBytesOfTheFrameAlone) {
    ForwardingTable table;
    table.insert(mac_of(0x0200'0000'0001), 5);
    std::array<std::byte, 64> buffer{};
    buffer[10] = std::byte{2};
    buffer[15] = std::byte{1};
    for (std::size_t i = 16; i < buffer.size(); ++i) buffer[i] = std::byte{0xEE};
    EXPECT_EQ(table.find(wire::Frame{buffer.data(), 10, 14, 0}), 5);
}

}  // namespace
}  // namespace gradstorm::fabric
