// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/heap_fabric.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace gradstorm::fabric {
namespace {

using wire::Frame;

Instant at(std::int64_t nanoseconds) { return Instant{Nanoseconds{nanoseconds}}; }

wire::MacAddress mac_of(std::size_t port) { return {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(port)}}; }

/// A fabric whose port i has mac_of(i), and frames that carry a number.
class Fabric {
public:
    explicit Fabric(const HeapFabricOptions& options) : fabric(options) {
        for (std::size_t i = 0; i < options.ports; ++i) fabric.attach(mac_of(i), i);
    }

    bool send(std::size_t from, const wire::MacAddress& to, std::uint32_t number, std::uint16_t length = 4154) {
        Frame frame;
        if (fabric.port(from).allocate({&frame, 1}) != 1) return false;
        frame.offset = wire::kPayloadAnchor - 54;
        frame.length = length;
        std::memcpy(frame.data(), to.octets.data(), 6);
        std::memcpy(frame.data() + 16, &number, sizeof number);
        if (fabric.port(from).send({&frame, 1}) == 1) return true;
        fabric.port(from).free({&frame, 1});
        return false;
    }

    std::vector<std::uint32_t> receive(std::size_t port, std::size_t most = 1000) {
        std::vector<Frame> frames(most);
        frames.resize(fabric.port(port).receive(frames));
        std::vector<std::uint32_t> numbers;
        for (const Frame& frame : frames) {
            std::memcpy(&numbers.emplace_back(), frame.data() + 16, sizeof(std::uint32_t));
        }
        fabric.port(port).free(frames);
        return numbers;
    }

    HeapFabric fabric;
};

TEST(HeapFabric, WithoutRateAndLatencyAFrameArrivesAtOnce) {
    Fabric f({.ports = 2});
    ASSERT_TRUE(f.send(0, mac_of(1), 7));
    EXPECT_EQ(f.fabric.port(1).advance(at(0)), at(0));  // something waits to be received
    EXPECT_EQ(f.receive(1), std::vector<std::uint32_t>{7});
    EXPECT_EQ(f.fabric.port(1).advance(at(0)), kNoDeadline);
    EXPECT_EQ(f.receive(0), std::vector<std::uint32_t>{});
}

TEST(HeapFabric, LatencyDelaysToTheNanosecond) {
    Fabric f({.ports = 2, .latency = Nanoseconds{500}});
    ASSERT_TRUE(f.send(0, mac_of(1), 7));
    EXPECT_EQ(f.fabric.advance(at(0)), at(500));
    EXPECT_EQ(f.fabric.advance(at(499)), at(500));
    EXPECT_TRUE(f.receive(1).empty());
    f.fabric.advance(at(500));
    EXPECT_EQ(f.receive(1).size(), 1u);
}

TEST(HeapFabric, LineRateHoldsExactlyOverManyFrames) {
    // 4154 B frame + 24 B at 400 Gb/s = 83.56 ns each.
    Fabric f({.ports = 2, .line_rate = {400e9}, .latency = Nanoseconds{1000}, .buffers = 2000, .egress_frames = 2000});
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_TRUE(f.send(0, mac_of(1), i));
    f.fabric.advance(at(1000 + 83));
    EXPECT_TRUE(f.receive(1).empty());
    f.fabric.advance(at(1000 + 84));
    EXPECT_EQ(f.receive(1).size(), 1u);
    f.fabric.advance(at(1000 + 83'559));
    EXPECT_EQ(f.receive(1).size(), 998u);
    f.fabric.advance(at(1000 + 83'560));
    EXPECT_EQ(f.receive(1), std::vector<std::uint32_t>{999});
}

TEST(HeapFabric, IncastSharesTheReceiversWire) {
    // Two senders at full rate to one receiver: twice the time of one, frames alternate.
    Fabric f({.ports = 3, .line_rate = {100e9}});
    for (std::uint32_t i = 0; i < 50; ++i) {
        ASSERT_TRUE(f.send(0, mac_of(2), 2 * i, 1226));  // 1250 B with overhead: 100 ns
    }
    for (std::uint32_t i = 0; i < 50; ++i) ASSERT_TRUE(f.send(1, mac_of(2), 2 * i + 1, 1226));
    f.fabric.advance(at(9'999));
    EXPECT_EQ(f.receive(2).size(), 99u);
    EXPECT_EQ(f.fabric.advance(at(9'999)), at(10'000));
    f.fabric.advance(at(10'000));
    EXPECT_EQ(f.receive(2), std::vector<std::uint32_t>{99});
}

TEST(HeapFabric, OrderIsThatOfTimeThenOfSend) {
    Fabric f({.ports = 3, .latency = Nanoseconds{10}});
    ASSERT_TRUE(f.send(1, mac_of(2), 0));
    ASSERT_TRUE(f.send(0, mac_of(2), 1));
    f.fabric.advance(at(5));
    ASSERT_TRUE(f.send(0, mac_of(2), 2));
    f.fabric.advance(at(100));
    EXPECT_EQ(f.receive(2), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(HeapFabric, BackPressureTakesAPrefixAndLosesNothing) {
    Fabric f({.ports = 2, .buffers = 64, .egress_frames = 8});
    std::array<Frame, 12> frames;
    HeapPort& port = f.fabric.port(0);
    ASSERT_EQ(port.allocate(frames), 12u);
    for (Frame& frame : frames) {
        frame.length = 64;
        std::memcpy(frame.data(), mac_of(1).octets.data(), 6);
    }
    EXPECT_EQ(port.room(), 8u);
    EXPECT_EQ(port.send(frames), 8u);
    EXPECT_EQ(port.room(), 0u);
    f.fabric.advance(at(0));
    EXPECT_EQ(port.room(), 0u);  // the receiver has not taken them yet
    EXPECT_EQ(f.receive(1, 3).size(), 3u);
    EXPECT_EQ(port.send(std::span{frames}.subspan(8)), 3u);
    port.free(std::span{frames}.subspan(11));
    f.fabric.advance(at(0));
    EXPECT_EQ(f.receive(1).size(), 8u);
    EXPECT_EQ(f.fabric.free_buffers(0), 64u);
    EXPECT_EQ(f.fabric.counters().forwarded, 11u);
}

TEST(HeapFabric, UnknownDestinationIsDroppedCountedAndReturned) {
    Fabric f({.ports = 2, .buffers = 4});
    ASSERT_TRUE(f.send(0, {{2, 9, 9, 9, 9, 9}}, 1));
    ASSERT_TRUE(f.send(0, mac_of(1), 1, 13));  // no whole Ethernet header
    EXPECT_EQ(f.fabric.counters().unknown_destination, 2u);
    EXPECT_EQ(f.fabric.free_buffers(0), 4u);
}

TEST(HeapFabric, SeveralAddressesLieBehindOnePortAndAPortReachesItself) {
    Fabric f({.ports = 1});
    f.fabric.attach({{2, 1, 1, 1, 1, 1}}, 0);
    ASSERT_TRUE(f.send(0, {{2, 1, 1, 1, 1, 1}}, 3));
    ASSERT_TRUE(f.send(0, mac_of(0), 4));
    f.fabric.advance(at(0));
    EXPECT_EQ(f.receive(0), (std::vector<std::uint32_t>{3, 4}));
}

TEST(HeapFabric, BuffersAreAlignedAndHoldThePayload) {
    std::vector<std::byte> payload(wire::kMaxPathMtu);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7);
    HeapFabric fabric({.ports = 1, .buffers = 3, .payload = payload});
    std::array<Frame, 4> frames;
    ASSERT_EQ(fabric.port(0).allocate(frames), 3u);
    for (const Frame& frame : std::span{frames}.first(3)) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.buffer) % 64, 0u);
        EXPECT_EQ(frame.offset, wire::kPayloadAnchor);
        EXPECT_EQ(frame.length, 0u);
        EXPECT_EQ(std::memcmp(frame.data(), payload.data(), payload.size()), 0);
    }
}

TEST(HeapFabric, RandomTrafficArrivesOnceInOrderAndPoolsAreWholeAtTheEnd) {
    constexpr std::size_t kPorts = 5;
    Fabric f({.ports = kPorts, .line_rate = {25e9}, .latency = Nanoseconds{300}, .buffers = 40, .egress_frames = 16});
    std::mt19937 random(11);
    std::array<std::array<std::uint32_t, kPorts>, kPorts> sent{};
    std::array<std::array<std::uint32_t, kPorts>, kPorts> received{};
    const auto drain = [&](std::size_t port) {
        for (const std::uint32_t number : f.receive(port, 1 + random() % 20)) {
            const std::size_t from = number >> 24;
            ASSERT_EQ(number & 0xFFFFFF, received[from][port]++);
        }
    };
    Instant now{};
    for (int i = 0; i < 20'000; ++i) {
        const std::size_t from = random() % kPorts;
        const std::size_t to = random() % kPorts;
        const auto number = static_cast<std::uint32_t>(from << 24) | sent[from][to];
        if (f.send(from, mac_of(to), number, static_cast<std::uint16_t>(60 + random() % 4000))) ++sent[from][to];
        now += Nanoseconds{random() % 400};
        f.fabric.advance(now);
        drain(random() % kPorts);
    }
    for (Instant next = now; next != kNoDeadline; next = f.fabric.advance(next)) {
        for (std::size_t port = 0; port < kPorts; ++port) drain(port);
    }
    for (int i = 0; i < 100; ++i) {
        for (std::size_t port = 0; port < kPorts; ++port) drain(port);
    }
    EXPECT_EQ(sent, received);
    for (std::size_t port = 0; port < kPorts; ++port) EXPECT_EQ(f.fabric.free_buffers(port), 40u);
}

}  // namespace
}  // namespace gradstorm::fabric
