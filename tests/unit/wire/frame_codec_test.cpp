// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frame_codec.h"

#include "engine/wire/byte_order.h"
#include "engine/wire/icrc.h"
#include "tests/unit/wire/sample_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gradstorm::wire {
namespace {

using test::kOpcodes;
using test::make_frame;
using test::PacketBuffer;
using test::random_headers;

constexpr std::size_t kBthAt = kEthernetSize + kIpv4Size + kUdpSize;

/// What decode() should find of headers that encode() was given.
FrameHeaders expected_headers(FrameHeaders headers, std::size_t payload, std::size_t frame) {
    headers.bth.pad_count = pad_count(payload);
    headers.ip.packet_length = static_cast<std::uint16_t>(frame - headers.ethernet.size());
    headers.udp.length = static_cast<std::uint16_t>(headers.ip.packet_length - headers.ip.size());
    return headers;
}

std::vector<std::byte> plain_frame(Opcode opcode, std::size_t payload) {
    std::mt19937_64 random{1};
    return make_frame(random, random_headers(random, opcode, true, false), payload);
}

FrameFault fault_of(std::span<const std::byte> frame) {
    const auto decoded = decode(frame);
    EXPECT_FALSE(decoded) << "a fault was expected";
    return decoded ? FrameFault::other_traffic : decoded.error();
}

TEST(FrameCodec, WhatIsEncodedIsDecoded) {
    std::mt19937_64 random{20261201};
    for (int round = 0; round < 40; ++round) {
        for (const auto opcode : kOpcodes) {
            const bool ipv4 = random() % 2 == 0;
            const bool vlan = random() % 2 == 0;
            const std::size_t most = random() % 4 == 0 ? kMaxPathMtu : 70;
            const std::size_t payload = has_payload(opcode) ? random() % (most + 1) : 0;
            const auto headers = random_headers(random, opcode, ipv4, vlan);
            const auto frame = make_frame(random, headers, payload);
            const auto decoded = decode(frame);
            ASSERT_TRUE(decoded) << to_string(opcode) << ": " << to_string(decoded.error());
            EXPECT_EQ(decoded->headers, expected_headers(headers, payload, frame.size())) << to_string(opcode);
            EXPECT_EQ(decoded->payload.size(), payload);
            EXPECT_EQ(decoded->length, frame.size());
            EXPECT_TRUE(decoded->ip_checksum_right);
            EXPECT_TRUE(verify_icrc(frame));
            EXPECT_EQ(decoded->payload.data() - frame.data(),
                      static_cast<std::ptrdiff_t>(header_size(opcode, ipv4, vlan)));
        }
    }
}

TEST(FrameCodec, EncodeTouchesNothingAtOrBehindTheAnchor) {
    std::mt19937_64 random{2};
    for (const auto opcode : kOpcodes) {
        PacketBuffer buffer;
        std::ranges::fill(buffer.bytes, std::byte{0x5A});
        const auto frame = encode(random_headers(random, opcode, false, true), 0, buffer.bytes.data());
        EXPECT_EQ(frame.offset + header_size(opcode, false, true), kPayloadAnchor);
        const auto untouched = [](auto part) { return std::ranges::count(part, std::byte{0x5A}) == std::ssize(part); };
        EXPECT_TRUE(untouched(std::span{buffer.bytes}.first(frame.offset)));
        EXPECT_TRUE(untouched(std::span{buffer.bytes}.subspan(kPayloadAnchor)));
    }
}

TEST(FrameCodec, SealClearsPadAndNothingElse) {
    std::mt19937_64 random{3};
    for (std::size_t payload = 1; payload <= 9; ++payload) {
        PacketBuffer buffer;
        std::ranges::fill(buffer.bytes, std::byte{0x5A});
        const auto frame =
            encode(random_headers(random, Opcode::write_middle, true, false), payload, buffer.bytes.data());
        seal(frame);
        const auto behind = std::span{buffer.bytes}.subspan(kPayloadAnchor);
        EXPECT_EQ(std::ranges::count(behind.first(payload), std::byte{0x5A}), static_cast<std::ptrdiff_t>(payload));
        const auto pad = behind.subspan(payload, pad_count(payload));
        EXPECT_EQ(std::ranges::count(pad, std::byte{0}), std::ssize(pad));
        EXPECT_EQ((payload + pad_count(payload)) % 4, 0U);
    }
}

TEST(FrameCodec, KnownFrameByteForByte) {
    FrameHeaders headers;
    headers.ethernet = {.destination = emulated_hca_address(1).mac, .source = emulated_hca_address(0).mac};
    headers.ip = {.source = emulated_hca_address(0).ip, .destination = emulated_hca_address(1).ip, .dscp = 26};
    headers.bth = {.opcode = Opcode::acknowledge, .destination_qpn = 0x123456, .psn = 0x89ABCD};
    headers.aeth = {.syndrome = 0x1F, .msn = 0x010203};
    PacketBuffer buffer;
    const auto frame = encode(headers, 0, buffer.bytes.data());
    const std::uint8_t expected[] = {
        0x02, 0x00, 0xC6, 0x12, 0x00, 0x02, 0x02, 0x00, 0xC6, 0x12, 0x00, 0x01, 0x08, 0x00,  // Ethernet
        0x45, 0x6A, 0x00, 0x30, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xAE, 0x2B, 198,  18,   0,    1,
        198,  18,   0,    2,    0xC0, 0x00, 0x12, 0xB7, 0x00, 0x1C, 0x00, 0x00,                           // UDP
        0x11, 0x40, 0xFF, 0xFF, 0x00, 0x12, 0x34, 0x56, 0x00, 0x89, 0xAB, 0xCD, 0x1F, 0x01, 0x02, 0x03};  // BTH, AETH
    ASSERT_EQ(frame.length, sizeof expected + kIcrcSize);
    EXPECT_TRUE(std::ranges::equal(test::view(frame).first(sizeof expected), std::as_bytes(std::span{expected})));
}

TEST(FrameCodec, RoceIsKnownByItsDestinationPortOnly) {
    for (const auto source : std::to_array<std::uint16_t>({69, 72, 4791, 53})) {
        auto frame = plain_frame(Opcode::send_only, 32);
        store_big(&frame[kEthernetSize + kIpv4Size], source);
        ASSERT_TRUE(decode(frame)) << source;
        EXPECT_EQ(decode(frame)->headers.udp.source_port, source);
        store_big<std::uint16_t>(&frame[kEthernetSize + kIpv4Size], kRoceUdpPort);
        store_big<std::uint16_t>(&frame[kEthernetSize + kIpv4Size + 2], source);
        EXPECT_EQ(decode(frame).has_value(), source == kRoceUdpPort) << source;
    }
}

TEST(FrameCodec, EveryPrefixIsRefused) {
    for (const bool ipv4 : {true, false}) {
        std::mt19937_64 random{4};
        const auto frame = make_frame(random, random_headers(random, Opcode::write_only_immediate, ipv4, true), 21);
        for (std::size_t size = 0; size < frame.size(); ++size) {
            EXPECT_FALSE(decode(std::span{frame}.first(size))) << size;
        }
    }
}

TEST(FrameCodec, ContradictingLengthsAreRefused) {
    const auto good = plain_frame(Opcode::write_middle, 64);
    auto longer = good;
    longer.push_back(std::byte{0});
    EXPECT_EQ(fault_of(longer), FrameFault::length_mismatch) << "bytes behind a frame that needs no padding";
    for (const unsigned change : {0xFFFCU, 0xFFFFU, 1U, 4U}) {  // -4, -1, 1, 4 modulo 2^16
        auto ip = good;
        auto* ip_length = &ip[kEthernetSize + 2];
        store_big(ip_length, static_cast<std::uint16_t>(load_big<std::uint16_t>(ip_length) + change));
        EXPECT_EQ(fault_of(ip), FrameFault::length_mismatch);
        auto udp = good;
        auto* udp_length = &udp[kEthernetSize + kIpv4Size + 4];
        store_big(udp_length, static_cast<std::uint16_t>(load_big<std::uint16_t>(udp_length) + change));
        EXPECT_EQ(fault_of(udp), FrameFault::length_mismatch);
    }
}

TEST(FrameCodec, EthernetPaddingIsLeftOut) {
    auto frame = plain_frame(Opcode::write_last, 0);
    ASSERT_EQ(frame.size(), 58U);
    frame.resize(60);
    const auto decoded = decode(frame);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->length, 58U);
    EXPECT_TRUE(verify_icrc(std::span{frame}.first(decoded->length)));
}

TEST(FrameCodec, WhatIsNotOursHasItsReason) {
    const auto good = plain_frame(Opcode::write_only, 64);
    const auto with = [&](std::size_t at, unsigned value) {
        auto frame = good;
        frame[at] = static_cast<std::byte>(value);
        return frame;
    };
    EXPECT_EQ(fault_of(with(13, 0x06)), FrameFault::other_traffic) << "ARP";
    EXPECT_EQ(fault_of(with(kEthernetSize, 0x55)), FrameFault::other_traffic) << "IP version 5";
    EXPECT_EQ(fault_of(with(kEthernetSize, 0x46)), FrameFault::ip_options);
    EXPECT_EQ(fault_of(with(kEthernetSize + 6, 0x20)), FrameFault::fragment) << "more fragments";
    EXPECT_EQ(fault_of(with(kEthernetSize + 7, 0x01)), FrameFault::fragment) << "offset";
    EXPECT_EQ(fault_of(with(kEthernetSize + 9, 6)), FrameFault::other_traffic) << "TCP";
    EXPECT_EQ(fault_of(with(kBthAt, 0x64)), FrameFault::unknown_opcode);
    EXPECT_EQ(fault_of(with(kBthAt + 1, 0x41)), FrameFault::header_version);
    EXPECT_EQ(fault_of(with(kBthAt, 0x0C)), FrameFault::payload_mismatch) << "READ request with payload";
    EXPECT_EQ(fault_of(plain_frame(Opcode::acknowledge, 4)), FrameFault::payload_mismatch);
    EXPECT_FALSE(decode(with(kEthernetSize + 8, 1))->ip_checksum_right) << "TTL changed, checksum not";
    auto padded = plain_frame(Opcode::write_middle, 0);
    padded[kBthAt + 1] = std::byte{0x70};
    EXPECT_EQ(fault_of(padded), FrameFault::payload_mismatch) << "three pad bytes of no payload";
}

TEST(FrameCodec, LargestPayloadFitsTheBuffer) {
    std::mt19937_64 random{5};
    const auto frame = make_frame(random, random_headers(random, Opcode::write_middle, true, false), kMaxPathMtu);
    EXPECT_EQ(frame.size(), 4154U);
    EXPECT_TRUE(decode(frame));
    EXPECT_TRUE(verify_icrc(frame));
}

}  // namespace
}  // namespace gradstorm::wire
