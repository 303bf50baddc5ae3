// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/fabric_port.h"

#include "engine/transport/dpdk/embedded_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace gradstorm::transport::dpdk {
namespace {

using testing::HasSubstr;
using wire::Frame;

wire::MacAddress mac_of(std::size_t worker) { return {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(worker)}}; }

std::unique_ptr<EmbeddedFabric> make(const EmbeddedFabricOptions& options) {
    auto fabric = EmbeddedFabric::create(options);
    if (!fabric) {
        ADD_FAILURE() << fabric.error().message;
        return nullptr;
    }
    for (std::size_t w = 0; w < options.workers; ++w) (*fabric)->attach(mac_of(w), w);
    return std::move(*fabric);
}

void address(Frame& frame, const wire::MacAddress& to, std::uint64_t number = 0) {
    frame.offset = wire::kPayloadAnchor - 54;
    frame.length = 54 + 4096 + 4;
    std::memcpy(frame.data(), to.octets.data(), 6);
    std::memcpy(frame.data() + 16, &number, sizeof number);
}

std::uint64_t number_of(const Frame& frame) {
    std::uint64_t number;
    std::memcpy(&number, frame.data() + 16, sizeof number);
    return number;
}

/// One worker of a test: sends numbered frames to a peer and checks that the peer's arrive complete and in order.
class Streamer {
public:
    Streamer(FabricPort& port, std::size_t peer, std::uint64_t count)
        : port_(port), peer_(mac_of(peer)), count_(count) {}

    bool done() const { return sent_ == count_ && received_ == count_; }
    bool in_order() const { return in_order_; }

    bool step() {
        std::array<Frame, 32> frames;
        const std::size_t arrived = port_.receive(frames);
        for (const Frame& frame : std::span{frames}.first(arrived)) in_order_ &= number_of(frame) == received_++;
        port_.free(std::span{frames}.first(arrived));

        const std::size_t wanted = std::min<std::uint64_t>({frames.size(), port_.room(), count_ - sent_});
        const std::size_t made = port_.allocate(std::span{frames}.first(wanted));
        for (std::size_t i = 0; i < made; ++i) address(frames[i], peer_, sent_ + i);
        const std::size_t taken = port_.send(std::span{frames}.first(made));
        in_order_ &= taken == made;  // room() promised it
        sent_ += taken;
        return arrived + taken != 0;
    }

private:
    FabricPort& port_;
    wire::MacAddress peer_;
    std::uint64_t count_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool in_order_ = true;
};

TEST(FabricPort, TwoThreadsMoveAMillionFramesBothWays) {
    constexpr std::uint64_t kFrames = 1'000'000;
    const auto fabric = make({.workers = 2, .buffers = 512, .ring_frames = 256});
    ASSERT_NE(fabric, nullptr);
    std::array<bool, 2> good{};
    {
        std::array<std::jthread, 2> threads;
        for (std::size_t w = 0; w < 2; ++w) {
            threads[w] = std::jthread([&, w] {
                Streamer streamer(fabric->port(w), 1 - w, kFrames);
                while (!streamer.done()) {
                    if (!streamer.step()) std::this_thread::yield();
                }
                good[w] = streamer.in_order();
            });
        }
    }
    EXPECT_TRUE(good[0]);
    EXPECT_TRUE(good[1]);
    for (std::size_t w = 0; w < 2; ++w) {
        EXPECT_EQ(fabric->free_buffers(w), 512u);
        EXPECT_EQ(fabric->port(w).counters().sent, kFrames);
        EXPECT_EQ(fabric->port(w).counters().received, kFrames);
        EXPECT_EQ(fabric->port(w).counters().unknown_destination, 0u);
    }
}

TEST(FabricPort, OneWorkerReachesItself) {
    const auto fabric = make({.workers = 1, .buffers = 64, .ring_frames = 64});
    ASSERT_NE(fabric, nullptr);
    Streamer streamer(fabric->port(0), 0, 10'000);
    while (!streamer.done()) ASSERT_TRUE(streamer.step());
    EXPECT_TRUE(streamer.in_order());
    EXPECT_EQ(fabric->free_buffers(0), 64u);
}

TEST(FabricPort, AFullRingIsBackPressureAndTakesAPrefix) {
    const auto fabric = make({.workers = 2, .buffers = 64, .ring_frames = 16});
    ASSERT_NE(fabric, nullptr);
    FabricPort& port = fabric->port(0);
    std::array<Frame, 40> frames;
    ASSERT_EQ(port.allocate(frames), 40u);
    for (std::size_t i = 0; i < 40; ++i) address(frames[i], mac_of(1), i);
    EXPECT_EQ(port.room(), 15u);  // a ring of 16 holds 15
    EXPECT_EQ(port.send(frames), 15u);
    EXPECT_EQ(port.room(), 0u);
    EXPECT_EQ(port.send(std::span{frames}.subspan(15)), 0u);
    EXPECT_EQ(port.counters().refused, 2u);
    std::array<Frame, 5> some;
    ASSERT_EQ(fabric->port(1).receive(some), 5u);
    fabric->port(1).free(some);
    const std::size_t room = port.room();
    EXPECT_GE(room, 5u);  // the receiver fetches ahead
    EXPECT_EQ(port.send(std::span{frames}.subspan(15)), room);
    port.free(std::span{frames}.subspan(15 + room));
    std::array<Frame, 40> rest;
    ASSERT_EQ(fabric->port(1).receive(rest), 10 + room);
    for (std::size_t i = 0; i < 10 + room; ++i) EXPECT_EQ(number_of(rest[i]), 5 + i);
    fabric->port(1).free(std::span{rest}.first(10 + room));
    EXPECT_EQ(fabric->free_buffers(0), 64u);
    EXPECT_EQ(fabric->free_buffers(1), 64u);
}

TEST(FabricPort, MixedDestinationsGoWhereTheyBelong) {
    const auto fabric = make({.workers = 3, .buffers = 64, .ring_frames = 64});
    ASSERT_NE(fabric, nullptr);
    fabric->attach({{2, 7, 7, 7, 7, 7}}, 2);
    FabricPort& port = fabric->port(0);
    std::array<Frame, 6> frames;
    ASSERT_EQ(port.allocate(frames), 6u);
    address(frames[0], mac_of(1), 0);
    address(frames[1], mac_of(1), 1);
    address(frames[2], mac_of(2), 2);
    address(frames[3], {{2, 9, 9, 9, 9, 9}}, 3);  // nobody's
    address(frames[4], {{2, 7, 7, 7, 7, 7}}, 4);
    address(frames[5], mac_of(1), 5);
    frames[5].length = 13;  // not even an Ethernet header
    EXPECT_EQ(port.send(frames), 6u);
    EXPECT_EQ(port.counters().unknown_destination, 2u);
    std::array<Frame, 8> got;
    ASSERT_EQ(fabric->port(1).receive(got), 2u);
    EXPECT_EQ(number_of(got[0]), 0u);
    EXPECT_EQ(number_of(got[1]), 1u);
    fabric->port(1).free(std::span{got}.first(2));
    ASSERT_EQ(fabric->port(2).receive(got), 2u);
    EXPECT_EQ(number_of(got[0]), 2u);
    EXPECT_EQ(number_of(got[1]), 4u);
    fabric->port(2).free(std::span{got}.first(2));
    EXPECT_EQ(fabric->free_buffers(0), 64u);
}

TEST(FabricPort, AnExhaustedPoolGivesWhatItHas) {
    const auto fabric = make({.workers = 2, .buffers = 10, .ring_frames = 64});
    ASSERT_NE(fabric, nullptr);
    std::array<Frame, 16> frames;
    EXPECT_EQ(fabric->port(0).allocate(frames), 10u);
    EXPECT_EQ(fabric->port(0).allocate(std::span{frames}.subspan(10)), 0u);
    fabric->port(0).free(std::span{frames}.first(10));
    EXPECT_EQ(fabric->port(0).allocate(frames), 10u);
    fabric->port(0).free(std::span{frames}.first(10));
}

TEST(FabricPort, AReceivedFrameMayBeSentOn) {
    const auto fabric = make({.workers = 3, .buffers = 8, .ring_frames = 64});
    ASSERT_NE(fabric, nullptr);
    Frame frame;
    ASSERT_EQ(fabric->port(0).allocate({&frame, 1}), 1u);
    address(frame, mac_of(1), 42);
    ASSERT_EQ(fabric->port(0).send({&frame, 1}), 1u);
    ASSERT_EQ(fabric->port(1).receive({&frame, 1}), 1u);
    address(frame, mac_of(2), 43);
    ASSERT_EQ(fabric->port(1).send({&frame, 1}), 1u);
    ASSERT_EQ(fabric->port(2).receive({&frame, 1}), 1u);
    EXPECT_EQ(number_of(frame), 43u);
    fabric->port(2).free({&frame, 1});
    EXPECT_EQ(fabric->free_buffers(0), 8u);
}

TEST(FabricPort, BuffersAreAligned) {
    const auto fabric = make({.workers = 2, .buffers = 32, .ring_frames = 64});
    ASSERT_NE(fabric, nullptr);
    std::array<Frame, 32> frames;
    ASSERT_EQ(fabric->port(0).allocate(frames), 32u);
    for (const Frame& frame : frames) ASSERT_EQ(reinterpret_cast<std::uintptr_t>(frame.buffer) % 64, 0u);
    fabric->port(0).free(frames);
}

TEST(EmbeddedFabric, RefusesSizesThatCannotBe) {
    const auto refusal = [](const EmbeddedFabricOptions& options) {
        const auto fabric = EmbeddedFabric::create(options);
        return fabric ? std::string("accepted") : fabric.error().message;
    };
    EXPECT_THAT(refusal({.workers = 0}), HasSubstr("0 workers"));
    EXPECT_THAT(refusal({.workers = 257}), HasSubstr("257 workers"));
    EXPECT_THAT(refusal({.buffers = 0}), HasSubstr("0 packet buffers"));
    EXPECT_THAT(refusal({.ring_frames = 1000}), HasSubstr("power of two"));
    EXPECT_THAT(refusal({.workers = 2, .buffers = 200'000}), HasSubstr("cannot make 200000 packet buffers"));
    EXPECT_THAT(refusal({.workers = 64, .buffers = 8, .ring_frames = 1 << 18}), HasSubstr("cannot make a ring"));
}

TEST(EmbeddedFabric, MemoryEstimateSuffices) {
    // The test process has 192 MB: the largest fabric whose estimate fits must really fit, again and again.
    EmbeddedFabricOptions options{.workers = 4, .buffers = 64};
    while (EmbeddedFabric::memory_mb(options) <= 180) options.buffers += 64;
    options.buffers -= 64;
    for (int i = 0; i < 5; ++i) EXPECT_NE(make(options), nullptr);
}

}  // namespace
}  // namespace gradstorm::transport::dpdk
