// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/tap_port.h"

#include "engine/wire/capture_reader.h"
#include "tests/unit/wire/sample_frames.h"

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace gradstorm::wire {
namespace {

/// A cable back to its own end that takes at most `limit` frames a call, and spoils what it was given: a sent frame is
/// no longer the sender's.
class SpoilingPort {
public:
    std::size_t limit = 64;

    std::size_t allocate(std::span<Frame> out) {
        for (auto& frame : out) {
            buffers_.emplace_back();
            frame = {.buffer = buffers_.back().bytes.data(), .offset = kPayloadAnchor};
        }
        return out.size();
    }
    std::size_t send(std::span<const Frame> frames) {
        const std::size_t taken = std::min(frames.size(), limit);
        for (const auto& frame : frames.first(taken)) {
            frame.data()[0] ^= std::byte{0xFF};
            queue_.push_back(frame);
        }
        return taken;
    }
    std::size_t receive(std::span<Frame> out) {
        std::size_t count = 0;
        for (; count < out.size() && !queue_.empty(); ++count) {
            out[count] = queue_.front();
            queue_.pop_front();
        }
        return count;
    }
    void free(std::span<const Frame> frames) { freed += frames.size(); }
    std::size_t room() { return limit; }
    Instant advance(Instant now) { return now + Nanoseconds{5}; }

    std::size_t freed = 0;

private:
    std::deque<test::PacketBuffer> buffers_;
    std::deque<Frame> queue_;
};
static_assert(FramePort<SpoilingPort>);
static_assert(FramePort<TapPort<SpoilingPort>>);

Instant at(std::int64_t nanoseconds) { return Instant{Nanoseconds{nanoseconds}}; }

/// Allocates frames whose first byte is their number.
std::vector<Frame> make_frames(TapPort<SpoilingPort>& tap, std::size_t count, std::uint16_t length = 100) {
    std::vector<Frame> frames(count);
    EXPECT_EQ(tap.allocate(frames), count);
    for (std::size_t i = 0; i < count; ++i) {
        frames[i].length = length;
        frames[i].data()[0] = static_cast<std::byte>(i);
    }
    return frames;
}

class TapPortTest : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    CaptureWriter open_writer() {
        const std::vector<std::string> names{"left", "right"};
        auto writer = CaptureWriter::create(path_, names, {});
        EXPECT_TRUE(writer);
        return std::move(*writer);
    }
    struct Seen {
        std::int64_t time;
        std::uint32_t interface;
        CaptureDirection direction;
        std::uint32_t original;
        std::size_t captured;
        int first_byte;
        friend bool operator==(const Seen&, const Seen&) = default;
    };
    std::vector<Seen> read_back() {
        std::vector<Seen> seen;
        auto reader = CaptureReader::open(path_);
        EXPECT_TRUE(reader);
        for (auto packet = reader->next(); packet && *packet; packet = reader->next()) {
            const auto& p = **packet;
            seen.push_back({p.time.count(), p.interface, p.direction, p.original_length, p.bytes.size(),
                            std::to_integer<int>(p.bytes[0])});
        }
        return seen;
    }

    SpoilingPort port_;
    std::filesystem::path path_ =
        std::filesystem::path{testing::TempDir()} /
        (std::string{"tap_"} + testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcapng");
};

TEST_F(TapPortTest, RecordsWhatWasSentAndReceivedAsItWas) {
    TapPort tap{port_, 64, 1, 40};
    EXPECT_EQ(tap.advance(at(1000)), at(1005)) << "the port's own deadline";
    const auto frames = make_frames(tap, 2);
    EXPECT_EQ(tap.send(frames), 2U);
    EXPECT_EQ(tap.advance(at(2000)), at(2005));
    std::vector<Frame> received(8);
    EXPECT_EQ(tap.receive(received), 2U);
    EXPECT_EQ(tap.receive(received), 0U);
    tap.free(std::span{received}.first(2));
    EXPECT_EQ(port_.freed, 2U);
    EXPECT_EQ(tap.room(), port_.limit);
    auto writer = open_writer();
    EXPECT_EQ(tap.drain(writer), 4U);
    EXPECT_EQ(tap.drain(writer), 0U);
    ASSERT_TRUE(writer.close());
    constexpr auto kSent = CaptureDirection::sent;
    constexpr auto kReceived = CaptureDirection::received;
    EXPECT_EQ(read_back(), (std::vector<Seen>{{1000, 1, kSent, 100, 40, 0x00},
                                              {1000, 1, kSent, 100, 40, 0x01},
                                              {2000, 1, kReceived, 100, 40, 0xFF},
                                              {2000, 1, kReceived, 100, 40, 0xFE}}));
    EXPECT_EQ(tap.lost(), 0U);
}

TEST_F(TapPortTest, FramesThePortDidNotTakeAreNotRecorded) {
    TapPort tap{port_, 64};
    port_.limit = 3;
    const auto frames = make_frames(tap, 10);
    EXPECT_EQ(tap.send(frames), 3U);
    EXPECT_EQ(tap.send(std::span{frames}.subspan(3)), 3U);
    auto writer = open_writer();
    EXPECT_EQ(tap.drain(writer), 6U);
    ASSERT_TRUE(writer.close());
    const auto seen = read_back();
    ASSERT_EQ(seen.size(), 6U);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)].first_byte, i);
    EXPECT_EQ(tap.lost(), 0U);
}

TEST_F(TapPortTest, WhatFindsNoRoomIsCountedAndTrafficGoesOn) {
    TapPort tap{port_, 8};
    const auto frames = make_frames(tap, 20);
    EXPECT_EQ(tap.send(frames), 20U);
    EXPECT_EQ(tap.lost(), 12U);
    std::vector<Frame> received(20);
    EXPECT_EQ(tap.receive(received), 20U);
    EXPECT_EQ(tap.lost(), 32U);
    auto writer = open_writer();
    EXPECT_EQ(tap.drain(writer), 8U);
    EXPECT_EQ(tap.send(std::span{frames}.first(1)), 1U);
    EXPECT_EQ(tap.drain(writer), 1U) << "room again";
    EXPECT_EQ(tap.lost(), 32U);
}

TEST_F(TapPortTest, AWriteErrorIsReportedAndTheFrameCounted) {
    TapPort tap{port_, 8, 9};  // no such interface in the file
    EXPECT_EQ(tap.send(make_frames(tap, 3)), 3U);
    auto writer = open_writer();
    EXPECT_FALSE(tap.drain(writer));
    EXPECT_EQ(tap.lost(), 1U);
}

TEST_F(TapPortTest, DrainsWhileTheWorkerGoesOn) {
    constexpr std::uint64_t kFrames = 20'000;
    TapPort tap{port_, 32};
    auto writer = open_writer();
    std::atomic<bool> done{false};
    std::uint64_t drained = 0;
    std::thread drainer{[&] {
        for (bool last = false; !last;) {
            last = done.load();
            drained += tap.drain(writer).value();
        }
    }};
    const auto frame = make_frames(tap, 1);
    std::vector<Frame> received(1);
    for (std::uint64_t i = 0; i < kFrames; ++i) {
        tap.advance(at(static_cast<std::int64_t>(i)));
        tap.send(frame);
        tap.receive(received);
    }
    done.store(true);
    drainer.join();
    EXPECT_EQ(drained + tap.lost(), 2 * kFrames);
    ASSERT_TRUE(writer.close());
    const auto seen = read_back();
    EXPECT_EQ(seen.size(), drained);
    EXPECT_TRUE(std::ranges::is_sorted(seen, {}, &Seen::time));
}

}  // namespace
}  // namespace gradstorm::wire
