// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/impaired_port.h"

#include "engine/fabric/heap_fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

namespace gradstorm::fabric {
namespace {

using wire::Frame;
using Port = ImpairedPort<HeapPort>;
static_assert(wire::FramePort<Port>);

constexpr wire::MacAddress kReceiver{{2, 0, 0, 0, 0, 9}};
constexpr wire::MacAddress kAlice{{2, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kBob{{2, 0, 0, 0, 0, 2}};
constexpr std::size_t kBuffers = 1000;
constexpr std::uint16_t kLength = 226;  // 250 B with overhead

Instant at(std::int64_t nanoseconds) { return Instant{Nanoseconds{nanoseconds}}; }

struct Arrival {
    std::uint32_t number = 0;
    std::int64_t at = 0;
    bool intact = true;
};

/// An impaired sender and a receiver that drains at every deadline.
class Link {
public:
    explicit Link(const ImpairedPortOptions& options = {}, std::size_t egress_frames = 512)
        : fabric({.ports = 2, .buffers = kBuffers, .egress_frames = egress_frames}), port(fabric.port(0), options) {
        fabric.attach(kReceiver, 1);
    }

    Frame make(std::uint32_t number, const wire::MacAddress& source = kAlice) {
        Frame frame;
        EXPECT_EQ(port.allocate({&frame, 1}), 1u);
        frame.length = kLength;
        std::memset(frame.data(), 0, kLength);
        std::memcpy(frame.data(), kReceiver.octets.data(), 6);
        std::memcpy(frame.data() + 6, source.octets.data(), 6);
        std::memcpy(frame.data() + 100, &number, sizeof number);
        return frame;
    }

    bool send(std::uint32_t number, const wire::MacAddress& source = kAlice) {
        const Frame frame = make(number, source);
        if (port.send({&frame, 1}) == 1) return true;
        port.free({&frame, 1});
        return false;
    }

    void drain(std::vector<Arrival>& into) {
        std::array<Frame, 32> frames;
        fabric.port(1).advance(now);
        while (const std::size_t count = fabric.port(1).receive(frames)) {
            for (const Frame& frame : std::span{frames}.first(count)) {
                Arrival& arrival = into.emplace_back();
                arrival.at = now.time_since_epoch().count();
                std::memcpy(&arrival.number, frame.data() + 100, sizeof arrival.number);
                for (std::size_t i = 12; i < kLength; ++i) {
                    if (i < 100 || i >= 104) arrival.intact &= frame.data()[i] == std::byte{0};
                }
            }
            fabric.port(1).free(std::span{frames}.first(count));
        }
    }

    std::vector<Arrival> run_to_the_end() {
        std::vector<Arrival> arrivals;
        for (Instant next = now; next != kNoDeadline; next = port.advance(now)) {
            now = std::max(now, next);
            port.advance(now);
            drain(arrivals);
        }
        return arrivals;
    }

    HeapFabric fabric;
    Port port;
    Instant now{};
};

std::vector<std::uint32_t> numbers(const std::vector<Arrival>& arrivals) {
    std::vector<std::uint32_t> result;
    for (const Arrival& arrival : arrivals) result.push_back(arrival.number);
    return result;
}

std::vector<std::uint32_t> iota(std::uint32_t count) {
    std::vector<std::uint32_t> result(count);
    std::iota(result.begin(), result.end(), 0u);
    return result;
}

/// Sends `count` frames in batches, draining in between.
std::vector<Arrival> stream(Link& link, std::uint32_t count) {
    std::vector<Arrival> arrivals;
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_TRUE(link.send(i));
        if (i % 32 == 31) {
            link.now += Nanoseconds{100};
            link.port.advance(link.now);
            link.drain(arrivals);
        }
    }
    for (const Arrival& arrival : link.run_to_the_end()) arrivals.push_back(arrival);
    return arrivals;
}

TEST(ImpairedPort, WithoutImpairmentNothingChanges) {
    Link link;
    EXPECT_EQ(numbers(stream(link, 5000)), iota(5000));
    EXPECT_EQ(link.port.counters(), ImpairmentCounters{.frames = 5000});
    EXPECT_EQ(link.fabric.free_buffers(0), kBuffers);
}

TEST(ImpairedPort, DropsTheFractionAskedForAndReturnsTheBuffers) {
    Link link({.seed = 3});
    link.port.impair_all({.drop = 0.05});
    const auto arrivals = stream(link, 100'000);
    const ImpairmentCounters counters = link.port.counters();
    EXPECT_EQ(arrivals.size() + counters.dropped, 100'000u);
    EXPECT_NEAR(static_cast<double>(counters.dropped), 5000, 4 * 69);  // four standard deviations of the binomial
    EXPECT_TRUE(std::ranges::is_sorted(numbers(arrivals)));
    EXPECT_EQ(link.fabric.free_buffers(0), kBuffers);
}

TEST(ImpairedPort, TheSameSeedGivesTheSameFaultsAnotherSeedOthers) {
    const auto run = [](std::uint64_t seed) {
        Link link({.seed = seed});
        link.port.impair_all({.drop = 0.1, .duplicate = 0.1, .reorder = 0.1, .corrupt = 0.1});
        return numbers(stream(link, 3000));
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
}

TEST(ImpairedPort, DuplicatesFollowTheirOriginal) {
    Link link;
    link.port.impair_all({.duplicate = 1});
    ASSERT_TRUE(link.send(0));
    ASSERT_TRUE(link.send(1));
    const auto arrivals = link.run_to_the_end();
    std::multiset<std::uint32_t> seen;
    for (const Arrival& arrival : arrivals) {
        EXPECT_TRUE(arrival.intact);
        seen.insert(arrival.number);
    }
    EXPECT_EQ(seen, (std::multiset<std::uint32_t>{0, 0, 1, 1}));
    EXPECT_EQ(link.port.counters().duplicated, 2u);
    EXPECT_EQ(link.fabric.free_buffers(0), kBuffers);
}

TEST(ImpairedPort, ADuplicateThatFindsNoRoomIsCountedAndTheOriginalArrives) {
    Link link({.held_frames = 1});
    link.port.impair_all({.duplicate = 1});
    ASSERT_TRUE(link.send(0));
    EXPECT_EQ(numbers(link.run_to_the_end()), iota(1));
    EXPECT_EQ(link.port.counters().not_duplicated, 1u);
}

TEST(ImpairedPort, ReorderedFramesAreOvertakenAndNoneIsLost) {
    Link link;
    link.port.impair_all({.reorder = 0.1, .reorder_delay = Nanoseconds{150}});
    auto order = numbers(stream(link, 10'000));
    EXPECT_FALSE(std::ranges::is_sorted(order));
    EXPECT_NEAR(static_cast<double>(link.port.counters().reordered), 1000, 4 * 30);
    std::ranges::sort(order);
    EXPECT_EQ(order, iota(10'000));
}

TEST(ImpairedPort, CorruptionFlipsExactlyOneBitBehindTheEthernetHeader) {
    Link link;
    link.port.impair_all({.corrupt = 1});
    std::set<std::size_t> bytes_hit;
    for (std::uint32_t i = 0; i < 4000; ++i) {
        ASSERT_TRUE(link.send(0));
        link.fabric.advance(link.now);
        Frame frame;
        ASSERT_EQ(link.fabric.port(1).receive({&frame, 1}), 1u);
        int flipped = 0;
        for (std::size_t b = 12; b < kLength; ++b) {
            const int bits = std::popcount(std::to_integer<unsigned>(frame.data()[b]));
            flipped += bits;
            if (bits != 0) bytes_hit.insert(b);
        }
        ASSERT_EQ(flipped, 1);
        link.fabric.port(1).free({&frame, 1});
    }
    EXPECT_EQ(*bytes_hit.begin(), 14u);
    EXPECT_EQ(*bytes_hit.rbegin(), kLength - 1u);
    EXPECT_EQ(link.port.counters().corrupted, 4000u);
}

TEST(ImpairedPort, CorruptionSparesTheConstantPayload) {
    ImpairedSource source({.corrupt = 1}, 5);
    const Frame frame{nullptr, wire::kPayloadAnchor - 54, 54 + 1024 + 4, 0};
    std::set<std::size_t> bytes_hit;
    for (int i = 0; i < 20'000; ++i) bytes_hit.insert(source.corrupt_bit(frame, true) / 8);
    EXPECT_EQ(bytes_hit.size(), 54u - 14u + 4u);
    EXPECT_EQ(*bytes_hit.begin(), 14u);
    EXPECT_EQ(*bytes_hit.rbegin(), 54u + 1024u + 3u);
    EXPECT_FALSE(bytes_hit.contains(54));
}

TEST(ImpairedPort, DelayIsExactAndKeepsTheOrder) {
    Link link;
    link.port.impair_all({.delay = Nanoseconds{2500}});
    ASSERT_TRUE(link.send(0));
    link.now = at(100);
    link.port.advance(link.now);
    ASSERT_TRUE(link.send(1));
    EXPECT_EQ(link.port.advance(link.now), at(2500));
    const auto arrivals = link.run_to_the_end();
    ASSERT_EQ(numbers(arrivals), iota(2));
    EXPECT_EQ(arrivals[0].at, 2500);
    EXPECT_EQ(arrivals[1].at, 2600);
    EXPECT_EQ(link.port.counters().held, 2u);
}

TEST(ImpairedPort, SlowRateHoldsOverManyFrames) {
    Link link;
    link.port.impair_all({.rate = {3e9}});
    for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(link.send(i));
    const auto arrivals = link.run_to_the_end();
    ASSERT_EQ(numbers(arrivals), iota(300));
    EXPECT_EQ(arrivals.front().at, 667);     // 250 B at 3 Gb/s = 666.67 ns
    EXPECT_EQ(arrivals.back().at, 200'000);  // 300 of them
}

TEST(ImpairedPort, HeldFramesAreBoundedByBackPressure) {
    Link link({.held_frames = 10});
    link.port.impair_all({.delay = Nanoseconds{1000}});
    std::uint32_t sent = 0;
    while (link.send(sent)) ++sent;
    EXPECT_EQ(sent, 10u);
    EXPECT_EQ(link.port.room(), 0u);
    EXPECT_EQ(numbers(link.run_to_the_end()), iota(10));
    EXPECT_EQ(link.port.room(), 10u);
    EXPECT_EQ(link.fabric.free_buffers(0), kBuffers);
}

TEST(ImpairedPort, AFullInnerPortLosesNothing) {
    Link link({.held_frames = 64}, 4);
    link.port.impair_all({.duplicate = 0.3, .reorder = 0.3, .delay = Nanoseconds{10}});
    std::vector<Arrival> arrivals;
    std::uint32_t sent = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<Frame> frames;
        for (std::uint32_t i = 0; i < 7; ++i) frames.push_back(link.make(sent + i));
        const std::size_t taken = link.port.send(frames);
        link.port.free(std::span{frames}.subspan(taken));
        sent += static_cast<std::uint32_t>(taken);
        link.now += Nanoseconds{7};
        link.port.advance(link.now);
        if (round % 3 == 0) link.drain(arrivals);
    }
    for (const Arrival& arrival : link.run_to_the_end()) arrivals.push_back(arrival);
    auto order = numbers(arrivals);
    EXPECT_EQ(order.size(), sent + link.port.counters().duplicated);
    std::ranges::sort(order);
    order.erase(std::unique(order.begin(), order.end()), order.end());
    EXPECT_EQ(order, iota(sent));
    EXPECT_EQ(link.fabric.free_buffers(0), kBuffers);
    EXPECT_EQ(link.port.held(), 0u);
}

TEST(ImpairedPort, EachSourceHasItsOwnFaultsAndItsOwnDice) {
    const auto dropped_of_alice = [](int bobs_between) {
        Link link({.seed = 17});
        link.port.impair(kAlice, {.drop = 0.2});
        std::vector<std::uint32_t> missing = iota(500);
        for (std::uint32_t i = 0; i < 500; ++i) {
            EXPECT_TRUE(link.send(i, kAlice));
            for (int b = 0; b < bobs_between; ++b) EXPECT_TRUE(link.send(100'000, kBob));
            for (const Arrival& arrival : link.run_to_the_end()) std::erase(missing, arrival.number);
        }
        EXPECT_EQ(link.port.counters(kBob).dropped, 0u);
        EXPECT_EQ(link.port.counters(kAlice).dropped, missing.size());
        return missing;
    };
    const auto alone = dropped_of_alice(0);
    EXPECT_GT(alone.size(), 50u);
    EXPECT_EQ(alone, dropped_of_alice(3));
}

TEST(ImpairedPort, ScriptDropsExactlyTheFramesItNames) {
    Link link;
    link.port.script({.matches =
                          [](const Frame& frame) {
                              std::uint32_t number;
                              std::memcpy(&number, frame.data() + 100, sizeof number);
                              return number % 2 == 0;
                          },
                      .first = 2,
                      .count = 2});  // the third and fourth even number: 4 and 6
    link.port.script({.fault = Fault::drop, .first = 9});
    for (std::uint32_t i = 0; i < 12; ++i) ASSERT_TRUE(link.send(i));
    EXPECT_EQ(numbers(link.run_to_the_end()), (std::vector<std::uint32_t>{0, 1, 2, 3, 5, 7, 8, 10, 11}));
    EXPECT_EQ(link.port.counters().dropped, 3u);
}

TEST(ImpairedPort, ScriptDuplicatesDelaysAndCorrupts) {
    Link link;
    link.port.script({.fault = Fault::duplicate, .first = 0});
    link.port.script({.fault = Fault::delay, .first = 1, .delay = Nanoseconds{777}});
    link.port.script({.fault = Fault::corrupt, .first = 2, .bit = 8 * 20});
    for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(link.send(i));
    const auto arrivals = link.run_to_the_end();
    EXPECT_EQ(numbers(arrivals), (std::vector<std::uint32_t>{0, 0, 2, 1}));
    EXPECT_EQ(arrivals[3].at, 777);
    EXPECT_FALSE(arrivals[2].intact);
    EXPECT_TRUE(arrivals[0].intact && arrivals[1].intact && arrivals[3].intact);
}

}  // namespace
}  // namespace gradstorm::fabric
