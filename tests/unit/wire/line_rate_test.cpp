// SPDX-License-Identifier: Apache-2.0
// The expected numbers are tables computed outside of this code (frame accounting of RoCEv2 at the usual path MTUs and
// rates), to the digits printed there.
#include "engine/wire/line_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gradstorm::wire {
namespace {

/// Rounded to `digits` behind the point, as the tables are.
double rounded(double value, int digits) {
    const double scale = std::pow(10, digits);
    return std::round(value * scale) / scale;
}

constexpr BitsPerSecond gbps(double rate) { return {rate * 1e9}; }

TEST(LineRate, MiddleFramesAtEveryMtu) {
    struct Row {
        std::uint32_t mtu;
        std::size_t line;
        double percent;
        double mpps[4];     // at 100, 200, 400, 800 Gb/s
        double goodput[4];  // Gb/s
        int goodput_digits;
    };
    constexpr Row kRows[] = {
        {256, 338, 75.740, {36.98, 73.96, 147.93, 295.86}, {75.7, 151.5, 303.0, 605.9}, 1},
        {512, 594, 86.195, {21.04, 42.09, 84.18, 168.35}, {86.2, 172.4, 344.8, 689.6}, 1},
        {1024, 1106, 92.586, {11.30, 22.60, 45.21, 90.42}, {92.6, 185.2, 370.3, 740.7}, 1},
        {2048, 2130, 96.150, {5.87, 11.74, 23.47, 46.95}, {96.2, 192.3, 384.6, 769.2}, 1},
        {4096, 4178, 98.037, {2.99, 5.98, 11.97, 23.93}, {98.04, 196.07, 392.15, 784.30}, 2},
    };
    for (const auto& row : kRows) {
        const auto line = line_bytes(frame_length(Opcode::write_middle, row.mtu));
        EXPECT_EQ(line, row.line);
        EXPECT_DOUBLE_EQ(rounded(goodput_fraction(row.mtu) * 100, 3), row.percent);
        for (std::size_t i = 0; i < 4; ++i) {
            const double rate = 100.0 * static_cast<double>(1U << i);
            EXPECT_DOUBLE_EQ(rounded(frames_per_second(gbps(rate), line) / 1e6, 2), row.mpps[i]) << row.mtu;
            EXPECT_DOUBLE_EQ(rounded(goodput_fraction(row.mtu) * rate, row.goodput_digits), row.goodput[i]) << row.mtu;
        }
    }
    EXPECT_DOUBLE_EQ(rounded(frames_per_second(gbps(1600), 4178) / 1e6, 2), 47.87);
    EXPECT_DOUBLE_EQ(rounded(goodput_fraction(4096) * 1600, 1), 1568.6);
}

TEST(LineRate, TagAndIpv6CostTheirBytes) {
    EXPECT_DOUBLE_EQ(rounded(goodput_fraction(1024, {.vlan = true}) * 100, 3), 92.252);
    EXPECT_DOUBLE_EQ(rounded(goodput_fraction(4096, {.vlan = true}) * 100, 3), 97.944);
    EXPECT_DOUBLE_EQ(rounded(goodput_fraction(1024, {.ipv4 = false}) * 100, 3), 90.941);
    EXPECT_DOUBLE_EQ(rounded(goodput_fraction(4096, {.ipv4 = false}) * 100, 3), 97.570);
    EXPECT_DOUBLE_EQ(rounded(infiniband_goodput_fraction(4096) * 100, 2), 99.37);
    EXPECT_DOUBLE_EQ(rounded(infiniband_goodput_fraction(2048) * 100, 2), 98.75);
}

TEST(LineRate, SmallMessagesAtMtu4096) {
    struct Row {
        std::uint64_t bytes;
        double percent;
        int digits;
    };
    constexpr Row kRows[] = {{64, 39.5, 1},    {256, 72.3, 1},    {1024, 91.27, 2},
                             {4096, 97.66, 2}, {65536, 98.01, 2}, {1048576, 98.04, 2}};
    for (const auto& row : kRows) {
        const auto footprint = message_footprint(MessageKind::write, row.bytes, 4096);
        EXPECT_DOUBLE_EQ(rounded(footprint.efficiency() * 100, row.digits), row.percent) << row.bytes;
    }
    const auto messages = [](std::uint64_t bytes) {
        return frames_per_second(gbps(400), message_footprint(MessageKind::write, bytes, 4096).line_bytes) / 1e6;
    };
    EXPECT_DOUBLE_EQ(rounded(messages(64), 1), 308.6);
    EXPECT_DOUBLE_EQ(rounded(messages(1024), 2), 44.56);
    EXPECT_DOUBLE_EQ(rounded(messages(4096), 2), 11.92);
}

TEST(LineRate, WritesOfTheAccountingTable) {
    struct Row {
        std::uint64_t bytes;
        bool immediate;
        std::uint32_t mtu;
        std::uint64_t packets;
        std::uint64_t l2;
        std::uint64_t line;
        double efficiency;
    };
    constexpr Row kRows[] = {
        {0, true, 4096, 1, 82, 102, 0},
        {64, false, 4096, 1, 142, 162, 0.3951},
        {8'192, true, 4096, 2, 8'336, 8'376, 0.9780},
        {65'536, true, 4096, 16, 66'548, 66'868, 0.9801},
        {65'536, true, 1024, 64, 69'524, 70'804, 0.9256},
        {131'072, true, 4096, 32, 133'076, 133'716, 0.9802},
        {524'288, true, 4096, 128, 532'244, 534'804, 0.9803},
        {524'288, false, 4096, 128, 532'240, 534'800, 0.9803},
        {614'400, true, 4096, 150, 623'720, 626'720, 0.9803},
        {1'048'576, true, 4096, 256, 1'064'468, 1'069'588, 0.9804},
        {1'048'576, true, 1024, 1'024, 1'112'084, 1'132'564, 0.9258},
    };
    for (const auto& row : kRows) {
        const auto kind = row.immediate ? MessageKind::write_with_immediate : MessageKind::write;
        const auto footprint = message_footprint(kind, row.bytes, row.mtu);
        EXPECT_EQ(footprint, (Footprint{row.packets, row.bytes, row.l2, row.line})) << row.bytes;
        EXPECT_DOUBLE_EQ(rounded(footprint.efficiency(), 4), row.efficiency) << row.bytes;
    }
}

TEST(LineRate, ControlFramesAndPauses) {
    EXPECT_EQ(l2_bytes(frame_length(Opcode::acknowledge, 0)), 66U);
    EXPECT_EQ(ack_line_bytes(), 86U);
    EXPECT_EQ(cnp_line_bytes(), 98U);
    EXPECT_EQ(ack_line_bytes({.ipv4 = false, .vlan = true}), 110U);
    constexpr std::size_t kSmallestFrame = 64 + kPreambleAndGapSize;
    constexpr double kMpps[] = {148.8, 297.6, 595.2, 1190.5};
    constexpr double kPause[] = {335.5, 167.8, 83.9, 41.9};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto rate = gbps(100.0 * static_cast<double>(1U << i));
        EXPECT_DOUBLE_EQ(rounded(frames_per_second(rate, kSmallestFrame) / 1e6, 1), kMpps[i]);
        EXPECT_DOUBLE_EQ(rounded(longest_pause_seconds(rate) * 1e6, 1), kPause[i]);
    }
}

/// The closed form equals adding up the packets one by one, at sizes that do not divide.
TEST(LineRate, ClosedFormEqualsThePacketsOneByOne) {
    using enum MessageKind;
    for (const auto kind : {write, write_with_immediate, send, send_with_immediate, read_response}) {
        for (const std::uint32_t mtu : {256U, 1024U, 4096U}) {
            for (const FrameShape shape : {FrameShape{}, FrameShape{.ipv4 = false, .vlan = true}}) {
                for (const std::uint64_t bytes : {0U, 1U, 255U, 256U, 257U, 4095U, 4096U, 4097U, 12'289U, 100'003U}) {
                    Footprint sum;
                    std::uint64_t left = bytes;
                    bool first = true;
                    do {
                        const std::uint64_t payload = std::min<std::uint64_t>(left, mtu);
                        left -= payload;
                        const auto frame = frame_length(packet_opcode(kind, first, left == 0), payload, shape);
                        sum += {1, payload, l2_bytes(frame), line_bytes(frame)};
                        first = false;
                    } while (left != 0);
                    EXPECT_EQ(message_footprint(kind, bytes, mtu, shape), sum) << bytes << " at " << mtu;
                }
            }
        }
    }
}

TEST(LineRate, OpcodesOfAMessageBelongTogether) {
    using enum MessageKind;
    for (const auto kind : {write, write_with_immediate, send, send_with_immediate, read_response}) {
        for (const bool first : {true, false}) {
            for (const bool last : {true, false}) {
                const auto opcode = packet_opcode(kind, first, last);
                EXPECT_EQ(is_first(opcode), first);
                EXPECT_EQ(is_last(opcode), last);
                EXPECT_EQ(has_immediate(opcode), last && (kind == write_with_immediate || kind == send_with_immediate));
                EXPECT_EQ(is_write(opcode), kind == write || kind == write_with_immediate);
                EXPECT_EQ(is_read_response(opcode), kind == read_response);
            }
        }
    }
}

}  // namespace
}  // namespace gradstorm::wire
