// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/stream.h"

#include "engine/wire/frame_codec.h"
#include "engine/wire/gathered_frame.h"
#include "engine/wire/icrc.h"
#include "engine/wire/line_rate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace gradstorm::flow {
namespace {

using testing::HasSubstr;
using wire::FrameChecksum;
using wire::PayloadMode;

StreamSettings settings_of(std::uint32_t message, std::uint32_t queue_pairs, bool ipv6 = false, bool vlan = false) {
    StreamSettings settings;
    settings.headers.ip.source = *wire::parse_ip(ipv6 ? "fd00::1" : "198.18.0.1");
    settings.headers.ip.destination = *wire::parse_ip(ipv6 ? "fd00::2" : "198.18.0.2");
    settings.headers.ip.dscp = 26;
    if (vlan) settings.headers.ethernet.vlan = wire::VlanTag{.id = 7, .priority = 3, .drop_eligible = false};
    settings.path_mtu = 1024;
    settings.message_bytes = message;
    for (std::uint32_t i = 0; i < queue_pairs; ++i) {
        settings.queue_pairs.push_back({.qpn = 0x12'3400 + i,
                                        .first_psn = 0xFF'FFF0 + i,
                                        .source_port = static_cast<std::uint16_t>(0xFFFE + 3 * i)});
    }
    settings.remote_key = 0xCAFE;
    settings.remote_address = 0x7000'0000'0000;
    settings.remote_length = 3 * std::uint64_t{message} + 1;
    settings.turn_frames = 5;
    return settings;
}

/// What a queue pair of the stream has to send next, worked out field by field.
struct Expected {
    std::uint32_t psn = 0;
    std::uint64_t message = 0;
    std::uint32_t frame = 0;  ///< of the message
};

class StreamFrames {
public:
    StreamFrames(const StreamSettings& settings, bool gathered)
        : settings_(settings), gathered_(gathered), checksum_(PayloadMode::synthetic, 4, gathered) {
        for (const StreamQueuePair& pair : settings.queue_pairs) next_[pair.qpn] = {.psn = pair.first_psn & 0xFF'FFFF};
    }

    void check(std::size_t count) {
        auto stream = Stream::create(settings_, checksum_);
        ASSERT_TRUE(stream) << stream.error().message;
        for (std::size_t done = 0; done < count;) {
            const std::size_t burst = std::min<std::size_t>(count - done, 1 + done % 7);
            const std::uint16_t length = stream->next_length();
            std::vector<wire::Frame> frames(burst);
            std::vector<Buffer> buffers(burst);
            for (std::size_t i = 0; i < burst; ++i) {
                frames[i].buffer = buffers[i].bytes.data();
                if (gathered_) continue;
                std::memcpy(frames[i].buffer + wire::kPayloadAnchor, checksum_.constant_payload().data(),
                            wire::kMaxPathMtu);
            }
            stream->build(frames);
            EXPECT_EQ(frames.front().length, length);
            for (const wire::Frame& frame : frames) ASSERT_NO_FATAL_FAILURE(check_frame(frame));
            done += burst;
        }
    }
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    struct alignas(64) Buffer {
        std::array<std::byte, wire::kFrameBufferSize> bytes{};
    };

    void check_frame(const wire::Frame& frame) {
        std::vector<std::byte> bytes(frame.data(), frame.data() + (gathered_ ? 0 : frame.length));
        if (gathered_) {
            bytes.resize(frame.length);
            ASSERT_EQ(wire::gather(frame, checksum_.constant_payload(), bytes), frame.length);
        }
        ASSERT_TRUE(wire::verify_icrc(bytes));
        const auto decoded = wire::decode(bytes);
        ASSERT_TRUE(decoded);
        ASSERT_TRUE(decoded->ip_checksum_right);
        const wire::FrameHeaders& headers = decoded->headers;
        ASSERT_TRUE(next_.contains(headers.bth.destination_qpn));
        Expected& expected = next_[headers.bth.destination_qpn];
        order_.push_back(headers.bth.destination_qpn);

        const auto frames = static_cast<std::uint32_t>(wire::packet_count(settings_.message_bytes, settings_.path_mtu));
        const bool first = expected.frame == 0;
        const bool last = expected.frame + 1 == frames;
        EXPECT_EQ(headers.bth.opcode, wire::packet_opcode(wire::MessageKind::write, first, last));
        EXPECT_EQ(headers.bth.psn, expected.psn);
        EXPECT_FALSE(headers.bth.ack_request);
        const std::uint32_t index = headers.bth.destination_qpn - settings_.queue_pairs.front().qpn;
        EXPECT_EQ(headers.udp.source_port, static_cast<std::uint16_t>(settings_.queue_pairs[index].source_port +
                                                                      expected.message * settings_.source_port_step));
        const std::uint64_t places = settings_.remote_length / settings_.message_bytes;
        if (first) {
            EXPECT_EQ(headers.reth.length, settings_.message_bytes);
            EXPECT_EQ(headers.reth.remote_key, settings_.remote_key);
            EXPECT_EQ(headers.reth.virtual_address,
                      settings_.remote_address + expected.message % places * settings_.message_bytes);
        }
        const std::size_t payload =
            last ? settings_.message_bytes - (frames - 1) * settings_.path_mtu : settings_.path_mtu;
        ASSERT_EQ(decoded->payload.size(), payload);
        EXPECT_EQ(std::memcmp(decoded->payload.data(), checksum_.constant_payload().data(), payload), 0);

        expected.psn = (expected.psn + 1) & 0xFF'FFFF;
        expected.frame = last ? 0 : expected.frame + 1;
        if (last) ++expected.message;
    }

    StreamSettings settings_;
    bool gathered_;
    FrameChecksum checksum_;
    std::map<std::uint32_t, Expected> next_;  // by queue pair number
    std::vector<std::uint32_t> order_;
};

TEST(Stream, SendsValidMessagesOnEveryQueuePair) {
    for (const std::uint32_t message : {1U, 2U, 3U, 4U, 1023U, 1024U, 1025U, 2048U, 5001U, 65'536U}) {
        for (const unsigned kind : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
            SCOPED_TRACE(fmt::format("message {} kind {}", message, kind));
            StreamSettings settings = settings_of(message, 3, kind % 2 != 0, kind / 2 % 2 != 0);
            settings.source_port_step = kind < 4 ? 0 : 7;
            StreamFrames frames(settings, kind / 4 != 0);
            frames.check(400);
        }
    }
}

TEST(Stream, QueuePairsTakeTurns) {
    StreamFrames frames(settings_of(65'536, 2), true);
    frames.check(15);
    const std::vector<std::uint32_t>& order = frames.order();
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], 0x12'3400 + i / 5 % 2) << i;
}

TEST(Stream, RefusesWhatNoFrameCanBe) {
    const FrameChecksum checksum(PayloadMode::synthetic, 1);
    const auto reason = [&](auto change) {
        StreamSettings settings = settings_of(4096, 1);
        change(settings);
        const auto stream = Stream::create(settings, checksum);
        return stream ? std::string("accepted") : stream.error().message;
    };
    EXPECT_EQ(reason([](StreamSettings&) {}), "accepted");
    EXPECT_THAT(reason([](StreamSettings& s) { s.queue_pairs.clear(); }), HasSubstr("no queue pairs"));
    EXPECT_THAT(reason([](StreamSettings& s) { s.path_mtu = 1500; }), HasSubstr("path mtu 1500 is not one of"));
    EXPECT_THAT(reason([](StreamSettings& s) { s.message_bytes = 0; }), HasSubstr("messages of 0 bytes"));
    EXPECT_THAT(reason([](StreamSettings& s) { s.message_bytes = 0x8000'0001; }), HasSubstr("2 GiB"));
    EXPECT_THAT(reason([](StreamSettings& s) { s.remote_length = 4095; }), HasSubstr("do not fit the 4095 bytes"));
    EXPECT_THAT(reason([](StreamSettings& s) { s.turn_frames = 0; }), HasSubstr("turns of no frames"));
}

}  // namespace
}  // namespace gradstorm::flow
