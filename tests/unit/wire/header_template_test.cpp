// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/header_template.h"

#include "engine/wire/frame_checksum.h"
#include "engine/wire/gathered_frame.h"
#include "engine/wire/icrc.h"
#include "engine/wire/synthetic_payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace gradstorm::wire {
namespace {

TEST(SyntheticPayload, IsAFunctionOfTheSeed) {
    EXPECT_EQ(synthetic_payload(1), synthetic_payload(1));
    EXPECT_NE(synthetic_payload(1), synthetic_payload(2));
}

FrameHeaders headers(Opcode opcode, bool ipv6) {
    FrameHeaders headers;
    headers.ethernet = {.destination = {{2, 1, 2, 3, 4, 5}}, .source = {{2, 9, 8, 7, 6, 5}}, .vlan = {}};
    headers.ip.source = *parse_ip(ipv6 ? "2001:db8::1" : "198.18.0.1");
    headers.ip.destination = *parse_ip(ipv6 ? "2001:db8::2" : "198.18.0.2");
    headers.bth.opcode = opcode;
    headers.bth.destination_qpn = 0x12'3456;
    headers.bth.psn = 0xAB'CDEF;
    headers.reth = {.virtual_address = 0x1234'5678'9ABC'DEF0, .remote_key = 77, .length = 1'000'000};
    return headers;
}

TEST(FrameChecksum, SyntheticFramesOfEveryLengthAreSealedRight) {
    const FrameChecksum checksum(PayloadMode::synthetic, 9);
    alignas(64) std::array<std::byte, kFrameBufferSize> buffer{};
    for (std::size_t length = 0; length <= kMaxPathMtu; ++length) {
        std::memcpy(buffer.data() + kPayloadAnchor, checksum.constant_payload().data(), kMaxPathMtu);
        Frame frame{.buffer = buffer.data(), .source = 5};
        checksum.begin(frame, headers(Opcode::write_only, length % 2 == 0), length);
        const std::size_t header_size = kPayloadAnchor - std::size_t{frame.offset};
        checksum.seal(frame, header_size, length);
        ASSERT_EQ(frame.source, 5U) << "the port's own";
        ASSERT_TRUE(verify_icrc({frame.data(), frame.length})) << length;
        ASSERT_TRUE(checksum.verify(frame.data(), frame.length, header_size, length));
        frame.data()[header_size - 1] ^= std::byte{1};
        ASSERT_FALSE(checksum.verify(frame.data(), frame.length, header_size, length));
    }
}

/// A stamped template is the frame that field-by-field encoding gives.
template <TemplateKind S>
void expect_same_as_encoded(PayloadMode mode, bool ipv6, std::uint32_t path_mtu) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(S) << " mtu " << path_mtu << " ipv6 " << ipv6);
    FrameChecksum checksum(mode, 9);
    const std::size_t length = is_full(S) ? path_mtu : 0;
    const HeaderDeltas& deltas = checksum.prepare(length);
    FrameHeaders expected = headers(opcode_of(S), ipv6);
    HeaderTemplate header;
    header.make(S, expected, path_mtu, checksum);
    std::mt19937_64 random(4);
    for (int round = 0; round < 20; ++round) {
        expected.bth.psn = static_cast<std::uint32_t>(random()) & k24BitMask;
        expected.bth.ack_request = random() % 2 == 0;
        expected.reth.virtual_address = random();
        expected.reth.remote_key = static_cast<std::uint32_t>(random());
        expected.reth.length = static_cast<std::uint32_t>(random());
        expected.immediate = static_cast<std::uint32_t>(random());
        expected.aeth = {.syndrome = static_cast<std::uint8_t>(random()),
                         .msn = static_cast<std::uint32_t>(random()) & k24BitMask};
        alignas(64) std::array<std::byte, kFrameBufferSize> by_field{};
        alignas(64) std::array<std::byte, kFrameBufferSize> stamped{};
        for (auto* buffer : {&by_field, &stamped}) {
            std::memcpy(buffer->data() + kPayloadAnchor, checksum.constant_payload().data(), length);
        }
        const Frame encoded = encode(expected, length, by_field.data());
        seal(encoded);
        if (has_reth(opcode_of(S))) header.set_message(S, expected.reth.remote_key, expected.reth.length, checksum);
        Frame frame{.buffer = stamped.data()};
        const std::uint32_t tail = has_aeth(opcode_of(S))
                                       ? std::uint32_t{expected.aeth.syndrome} << 24U | expected.aeth.msn
                                       : expected.immediate;
        std::uint32_t icrc =
            header.stamp<S>(frame, deltas,
                            {.psn_word = expected.bth.psn | (expected.bth.ack_request ? kAckRequestBit : 0),
                             .address = expected.reth.virtual_address,
                             .tail = tail});
        std::byte* payload = stamped.data() + kPayloadAnchor;
        if (mode == PayloadMode::memory) {  // stamping wrote over the first bytes: the payload follows it
            std::memcpy(payload, checksum.constant_payload().data(), length);
            icrc ^= checksum.payload_part(payload, length);
        }
        put_icrc(payload + length, icrc);
        ASSERT_EQ(frame.length, encoded.length);
        ASSERT_EQ(frame.offset, encoded.offset);
        ASSERT_EQ(std::memcmp(frame.data(), encoded.data(), frame.length), 0);

        if (ipv6) continue;
        ExpectedHeader learnt;
        learnt.learn<S>(frame.data(), frame.length, checksum.payload_part(payload, length), deltas);
        EXPECT_TRUE(learnt.same<S>(frame.data(), frame.length));
        EXPECT_FALSE(learnt.same<S>(frame.data(), static_cast<std::uint16_t>(frame.length - 4)));
        for (std::size_t i = 0; i < ExpectedHeader::kCompared; ++i) {  // each of its bytes counts
            frame.data()[i] ^= std::byte{0x10};
            EXPECT_FALSE(learnt.same<S>(frame.data(), frame.length)) << i;
            frame.data()[i] ^= std::byte{0x10};
        }
        EXPECT_EQ(
            learnt.icrc ^ Layout<S>::delta(deltas, Layout<S>::load(payload)) ^ checksum.payload_part(payload, length),
            icrc);
    }
}

/// A stamped gathered frame is on the wire what field-by-field encoding gives, and what changes from frame to frame
/// lies in one cache line together with the ICRC, whatever was in the buffer before.
template <TemplateKind S>
void expect_same_when_gathered(bool ipv6, bool vlan) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(S) << " ipv6 " << ipv6 << " vlan " << vlan);
    constexpr std::uint32_t kPathMtu = 1024;
    FrameChecksum checksum(PayloadMode::synthetic, 9, true);
    const std::size_t length = is_full(S) ? kPathMtu : 0;
    const HeaderDeltas& deltas = checksum.prepare(length);
    FrameHeaders expected = headers(opcode_of(S), ipv6);
    if (vlan) expected.ethernet.vlan = VlanTag{};
    HeaderTemplate header;
    header.make(S, expected, kPathMtu, checksum);
    expected.reth = {.virtual_address = 0x77, .remote_key = 0, .length = 0};
    alignas(64) std::array<std::byte, kFrameBufferSize> by_field{};
    std::memcpy(by_field.data() + kPayloadAnchor, checksum.constant_payload().data(), length);
    const Frame encoded = encode(expected, length, by_field.data());
    seal(encoded);
    for (const std::byte before : {std::byte{0}, std::byte{0xEE}}) {
        alignas(64) std::array<std::byte, kFrameBufferSize> buffer{};
        buffer.fill(before);
        Frame frame{.buffer = buffer.data()};
        const std::uint32_t icrc = header.stamp<S>(frame, deltas, {.psn_word = expected.bth.psn, .address = 0x77});
        put_icrc(buffer.data() + header.end(), icrc);
        std::array<std::byte, kFrameBufferSize> on_wire{};
        ASSERT_EQ(gather(frame, checksum.constant_payload(), on_wire), encoded.length);
        ASSERT_EQ(std::memcmp(on_wire.data(), encoded.data(), encoded.length), 0);
    }
    if (!ipv6) {
        const std::size_t ip = header.offset + expected.ethernet.size();
        const std::size_t last = header.end() + kIcrcSize - 1;
        EXPECT_EQ(ip / 64, last / 64);
    }
}

TEST(HeaderTemplate, GivesTheFrameThatTheCodecGivesWhenGathered) {
    for (const bool ipv6 : {false, true}) {
        for (const bool vlan : {false, true}) {
            expect_same_when_gathered<TemplateKind::write_first>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::write_middle>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::write_last>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::write_last_immediate>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::write_only>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::write_only_immediate>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::credit>(ipv6, vlan);
            expect_same_when_gathered<TemplateKind::acknowledge>(ipv6, vlan);
        }
    }
}

TEST(HeaderTemplate, GivesTheFrameThatTheCodecGives) {
    for (const PayloadMode mode : {PayloadMode::synthetic, PayloadMode::memory}) {
        for (const bool ipv6 : {false, true}) {
            for (const std::uint32_t mtu : {256U, 1024U, 4096U}) {
                expect_same_as_encoded<TemplateKind::write_first>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::write_middle>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::write_last>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::write_last_immediate>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::write_only>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::write_only_immediate>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::credit>(mode, ipv6, mtu);
                expect_same_as_encoded<TemplateKind::acknowledge>(mode, ipv6, mtu);
            }
        }
    }
}

}  // namespace
}  // namespace gradstorm::wire
