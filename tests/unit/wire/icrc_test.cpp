// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/icrc.h"

#include "engine/wire/capture_reader.h"
#include "tests/unit/wire/sample_frames.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

namespace gradstorm::wire {
namespace {

using test::make_frame;
using test::random_headers;

TEST(Icrc, StartIsTheRegisterAfter64Ones) {
    constexpr std::array<std::byte, 8> kOnes{std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF},
                                             std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}};
    EXPECT_EQ(crc32_update(kCrc32Start, kOnes), kIcrcStart);
}

/// Frames of a real capture, made by other people's hardware and software: an ICRC over wrong fields, or one that looks
/// at either UDP port, fails here.
TEST(Icrc, AllRoceFramesOfTheSharedCapture) {
    const std::filesystem::path path = std::filesystem::path{GRADSTORM_SHARED_DATA} / "pcap/oferby-proxy-roce.pcap";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << " beside this checkout";
    auto reader = CaptureReader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    int frames = 0;
    int roce = 0;
    int right = 0;
    std::map<Opcode, int> opcodes;
    std::set<std::uint16_t> source_ports;
    for (;;) {
        const auto packet = reader->next();
        ASSERT_TRUE(packet) << packet.error().message;
        if (!*packet) break;
        ++frames;
        const auto decoded = decode((*packet)->bytes);
        if (!decoded) {
            EXPECT_EQ(decoded.error(), FrameFault::other_traffic) << "frame " << frames;
            continue;
        }
        ++roce;
        ++opcodes[decoded->headers.bth.opcode];
        source_ports.insert(decoded->headers.udp.source_port);
        right += verify_icrc((*packet)->bytes.first(decoded->length)) ? 1 : 0;
        EXPECT_EQ(decoded->headers.ip.ecn, Ecn::capable_0);
        EXPECT_TRUE(decoded->ip_checksum_right);
    }
    EXPECT_EQ(frames, 123);
    EXPECT_EQ(roce, 105);
    EXPECT_EQ(right, 105);
    EXPECT_EQ(opcodes, (std::map<Opcode, int>{{Opcode::send_first, 33},
                                              {Opcode::send_last_immediate, 33},
                                              {Opcode::send_only_immediate, 2},
                                              {Opcode::acknowledge, 37}}));
    EXPECT_EQ(source_ports, (std::set<std::uint16_t>{69, 72}));
}

/// Bits that a switch may change leave the ICRC alone; every other bit from the IP header on changes it.
TEST(Icrc, EveryBitCountsButTheVariantOnes) {
    for (const bool ipv4 : {true, false}) {
        for (const bool vlan : {true, false}) {
            std::mt19937_64 random{7};
            auto frame = make_frame(random, random_headers(random, Opcode::write_only_immediate, ipv4, vlan), 45);
            const std::size_t ip = kEthernetSize + (vlan ? kVlanTagSize : 0);
            const std::size_t udp = ip + (ipv4 ? kIpv4Size : kIpv6Size);
            std::set<std::size_t> variant{udp + 6, udp + 7, udp + kUdpSize + 4};
            if (ipv4) {
                variant.insert({ip + 1, ip + 8, ip + 10, ip + 11});
            } else {
                variant.insert({ip + 1, ip + 2, ip + 3, ip + 7});
            }
            const auto covered = std::span{frame}.first(frame.size() - kIcrcSize);
            const auto original = icrc(covered);
            // The IP version and, with a tag, the EtherType decide what is masked: leave these alone.
            for (std::size_t byte = ip; byte < covered.size(); ++byte) {
                for (unsigned bit = 0; bit < 8; ++bit) {
                    const bool version = byte == ip && bit >= 4;
                    if (version) continue;
                    const bool masked = variant.contains(byte) || (!ipv4 && byte == ip);
                    covered[byte] ^= static_cast<std::byte>(1U << bit);
                    EXPECT_EQ(icrc(covered) == original, masked) << "byte " << byte << " bit " << bit;
                    EXPECT_EQ(verify_icrc(frame), masked);
                    covered[byte] ^= static_cast<std::byte>(1U << bit);
                }
            }
            covered[0] ^= std::byte{0xFF};
            EXPECT_EQ(icrc(covered), original) << "MAC addresses are not covered";
        }
    }
}

TEST(Icrc, EveryBitOfTheIcrcItselfCounts) {
    std::mt19937_64 random{8};
    auto frame = make_frame(random, random_headers(random, Opcode::send_last, true, false), 4096);
    ASSERT_TRUE(verify_icrc(frame));
    for (std::size_t bit = 0; bit < 32; ++bit) {
        auto& byte = frame[frame.size() - kIcrcSize + bit / 8];
        byte ^= static_cast<std::byte>(1U << bit % 8);
        EXPECT_FALSE(verify_icrc(frame)) << bit;
        byte ^= static_cast<std::byte>(1U << bit % 8);
    }
}

TEST(Icrc, VlanTagIsNotCovered) {
    std::mt19937_64 random{9};
    auto headers = random_headers(random, Opcode::write_middle, true, true);
    test::PacketBuffer buffer;
    const auto tagged = encode(headers, 100, buffer.bytes.data());
    const auto with_tag = icrc(test::view(tagged).first(tagged.length - kIcrcSize));
    headers.ethernet.vlan.reset();
    const auto untagged = encode(headers, 100, buffer.bytes.data());
    EXPECT_EQ(untagged.length + kVlanTagSize, tagged.length);
    EXPECT_EQ(icrc(test::view(untagged).first(untagged.length - kIcrcSize)), with_tag);
}

TEST(Icrc, PartsGiveWhatTheWholeGives) {
    std::mt19937_64 random{10};
    for (const auto opcode : test::kOpcodes) {
        for (const std::size_t payload : {0U, 1U, 64U, 1021U, 4096U}) {
            if (payload != 0 && !has_payload(opcode)) continue;
            const bool ipv4 = random() % 2 == 0;
            const auto frame = make_frame(random, random_headers(random, opcode, ipv4, true), payload);
            const auto headers = std::span{frame}.first(header_size(opcode, ipv4, true));
            const auto padded = std::span{frame}.subspan(headers.size(), payload + pad_count(payload));
            const auto state = crc32_update(0, padded);
            const auto expected = get_icrc(&frame[frame.size() - kIcrcSize]);
            EXPECT_EQ(icrc_from_parts(headers, state, padded.size()), expected);
            EXPECT_EQ(icrc_from_parts(headers, state, Crc32Shift{padded.size()}), expected);
        }
    }
}

/// The way the data path keeps an ICRC right: PSN and address change, the payload is not read.
TEST(Icrc, DeltaTablesFollowChangedHeaderFields) {
    std::mt19937_64 random{11};
    auto frame = make_frame(random, random_headers(random, Opcode::write_only, true, false), 4096);
    const std::size_t psn = kEthernetSize + kIpv4Size + kUdpSize + 9;
    auto value = get_icrc(&frame[frame.size() - kIcrcSize]);
    for (std::size_t at = psn; at < psn + 3 + 8; ++at) {
        const ByteDeltaTable table{frame.size() - kIcrcSize - 1 - at};
        const auto changed = static_cast<std::byte>(random());
        value ^= table[changed ^ frame[at]];
        frame[at] = changed;
        ASSERT_EQ(value, icrc(std::span{frame}.first(frame.size() - kIcrcSize)));
    }
}

TEST(Icrc, ShortInputIsNotRead) {
    std::mt19937_64 random{12};
    const auto frame = make_frame(random, random_headers(random, Opcode::send_only, false, true), 0);
    for (std::size_t size = 0; size < frame.size(); ++size) {
        const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(verify_icrc(cut)) << size;
    }
}

}  // namespace
}  // namespace gradstorm::wire
