// SPDX-License-Identifier: Apache-2.0
// The parts that the protocol is built from.
#include "base/ring.h"
#include "engine/roce/frame_checksum.h"
#include "engine/roce/header_template.h"
#include "engine/roce/memory_regions.h"
#include "engine/roce/psn.h"
#include "engine/roce/synthetic_payload.h"
#include "engine/roce/timer_heap.h"
#include "engine/wire/gathered_frame.h"
#include "engine/wire/icrc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace gradstorm::roce {
namespace {

TEST(Psn, DistancesGoAroundTheCircle) {
    EXPECT_EQ(psn_distance(5, 3), 2);
    EXPECT_EQ(psn_distance(3, 5), -2);
    EXPECT_EQ(psn_distance(0, 0xFF'FFFF), 1);
    EXPECT_EQ(psn_distance(0xFF'FFFF, 0), -1);
    EXPECT_EQ(psn_distance(0x7F'FFFF, 0), 0x7F'FFFF);
    EXPECT_EQ(psn_distance(0x80'0000, 0), -0x80'0000);
    EXPECT_EQ(extend_psn(2, 0x1FF'FFFE), 0x200'0002U);
    EXPECT_EQ(extend_psn(0xFF'FFFF, 0x200'0000), 0x1FF'FFFFU);
}

TEST(MemoryRegions, KeysOpenTheirOwnRangeAlone) {
    MemoryRegions regions;
    const auto a = regions.add(1000, 100);
    const auto b = regions.add(0xFFFF'FFFF'FFFF'FF00, 0x100);  // up to the end of the address space
    EXPECT_NE(a.local_key, a.remote_key);
    EXPECT_TRUE(regions.local_allowed(a.local_key, 1000, 100));
    EXPECT_TRUE(regions.local_allowed(a.local_key, 1100, 0));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 1000, 101));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 999, 1));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 1050, ~std::uint64_t{0}));
    EXPECT_FALSE(regions.local_allowed(a.remote_key, 1000, 1));
    EXPECT_FALSE(regions.remote_allowed(a.local_key, 1000, 1));
    EXPECT_TRUE(regions.remote_allowed(b.remote_key, 0xFFFF'FFFF'FFFF'FFFF, 1));
    EXPECT_FALSE(regions.remote_allowed(b.remote_key, 0xFFFF'FFFF'FFFF'FFFF, 2));
    EXPECT_FALSE(regions.remote_allowed(b.remote_key + 0x100, 1000, 1));
    EXPECT_FALSE(regions.remote_allowed(0, 1000, 1));
}

TEST(TimerHeap, RingsInOrderOfTimeThenIndex) {
    std::mt19937_64 random(3);
    TimerHeap heap;
    heap.resize(100);
    std::set<std::pair<std::int64_t, TimerHeap::Index>> model;
    std::vector<std::int64_t> at(100, -1);
    for (int round = 0; round < 20'000; ++round) {
        if (random() % 3 != 0 || model.empty()) {
            const auto index = static_cast<TimerHeap::Index>(random() % 100);
            const auto when = static_cast<std::int64_t>(random() % 50);
            heap.arm(index, Instant{Nanoseconds{when}});
            if (at[index] < 0 || when < at[index]) {  // only ever earlier
                model.erase({at[index], index});
                model.insert({when, index});
                at[index] = when;
            }
        } else {
            ASSERT_EQ(heap.next(), Instant{Nanoseconds{model.begin()->first}});
            const auto index = heap.pop();
            ASSERT_EQ(index, model.begin()->second);
            model.erase(model.begin());
            at[index] = -1;
        }
    }
}

TEST(Ring, KeepsOrderWhenItGrows) {
    Ring<int> ring;
    ring.reserve(3);
    for (int i = 0; i < 4; ++i) ring.push(i);
    ring.pop();
    ring.push(4);
    ring.reserve(9);
    EXPECT_EQ(ring.capacity(), 16U);
    for (int i = 1; i <= 4; ++i, ring.pop()) EXPECT_EQ(ring.front(), i);
    EXPECT_TRUE(ring.empty());
}

TEST(SyntheticPayload, IsAFunctionOfTheSeed) {
    EXPECT_EQ(synthetic_payload(1), synthetic_payload(1));
    EXPECT_NE(synthetic_payload(1), synthetic_payload(2));
}

wire::FrameHeaders headers(wire::Opcode opcode, bool ipv6) {
    wire::FrameHeaders headers;
    headers.ethernet = {.destination = {{2, 1, 2, 3, 4, 5}}, .source = {{2, 9, 8, 7, 6, 5}}, .vlan = {}};
    headers.ip.source = *wire::parse_ip(ipv6 ? "2001:db8::1" : "198.18.0.1");
    headers.ip.destination = *wire::parse_ip(ipv6 ? "2001:db8::2" : "198.18.0.2");
    headers.bth.opcode = opcode;
    headers.bth.destination_qpn = 0x12'3456;
    headers.bth.psn = 0xAB'CDEF;
    headers.reth = {.virtual_address = 0x1234'5678'9ABC'DEF0, .remote_key = 77, .length = 1'000'000};
    return headers;
}

TEST(FrameChecksum, SyntheticFramesOfEveryLengthAreSealedRight) {
    const FrameChecksum checksum(PayloadMode::synthetic, 9);
    alignas(64) std::array<std::byte, wire::kFrameBufferSize> buffer{};
    for (std::size_t length = 0; length <= wire::kMaxPathMtu; ++length) {
        std::memcpy(buffer.data() + wire::kPayloadAnchor, checksum.constant_payload().data(), wire::kMaxPathMtu);
        wire::Frame frame{.buffer = buffer.data(), .source = 5};
        checksum.begin(frame, headers(wire::Opcode::write_only, length % 2 == 0), length);
        const std::size_t header_size = wire::kPayloadAnchor - std::size_t{frame.offset};
        checksum.seal(frame, header_size, length);
        ASSERT_EQ(frame.source, 5U) << "the port's own";
        ASSERT_TRUE(wire::verify_icrc({frame.data(), frame.length})) << length;
        ASSERT_TRUE(checksum.verify(frame.data(), frame.length, header_size, length));
        frame.data()[header_size - 1] ^= std::byte{1};
        ASSERT_FALSE(checksum.verify(frame.data(), frame.length, header_size, length));
    }
}

/// A stamped template is the frame that field-by-field encoding gives.
template <Shape S>
void expect_same_as_encoded(PayloadMode mode, bool ipv6, std::uint32_t path_mtu) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(S) << " mtu " << path_mtu << " ipv6 " << ipv6);
    FrameChecksum checksum(mode, 9);
    const std::size_t length = is_full(S) ? path_mtu : 0;
    const wire::HeaderDeltas& deltas = checksum.prepare(length);
    wire::FrameHeaders expected = headers(opcode_of(S), ipv6);
    HeaderTemplate header;
    header.make(S, expected, path_mtu, checksum);
    std::mt19937_64 random(4);
    for (int round = 0; round < 20; ++round) {
        expected.bth.psn = static_cast<std::uint32_t>(random()) & kPsnMask;
        expected.bth.ack_request = random() % 2 == 0;
        expected.reth.virtual_address = random();
        expected.reth.remote_key = static_cast<std::uint32_t>(random());
        expected.reth.length = static_cast<std::uint32_t>(random());
        expected.immediate = static_cast<std::uint32_t>(random());
        expected.aeth = {.syndrome = static_cast<std::uint8_t>(random()),
                         .msn = static_cast<std::uint32_t>(random()) & kPsnMask};
        alignas(64) std::array<std::byte, wire::kFrameBufferSize> by_field{};
        alignas(64) std::array<std::byte, wire::kFrameBufferSize> stamped{};
        for (auto* buffer : {&by_field, &stamped}) {
            std::memcpy(buffer->data() + wire::kPayloadAnchor, checksum.constant_payload().data(), length);
        }
        const wire::Frame encoded = wire::encode(expected, length, by_field.data());
        wire::seal(encoded);
        if (wire::has_reth(opcode_of(S)))
            header.set_message(S, expected.reth.remote_key, expected.reth.length, checksum);
        wire::Frame frame{.buffer = stamped.data()};
        const std::uint32_t tail = wire::has_aeth(opcode_of(S))
                                       ? std::uint32_t{expected.aeth.syndrome} << 24U | expected.aeth.msn
                                       : expected.immediate;
        std::uint32_t icrc =
            header.stamp<S>(frame, deltas,
                            {.psn_word = expected.bth.psn | (expected.bth.ack_request ? kAckRequestBit : 0),
                             .address = expected.reth.virtual_address,
                             .tail = tail});
        std::byte* payload = stamped.data() + wire::kPayloadAnchor;
        if (mode == PayloadMode::memory) {  // stamping wrote over the first bytes: the payload follows it
            std::memcpy(payload, checksum.constant_payload().data(), length);
            icrc ^= checksum.payload_part(payload, length);
        }
        wire::put_icrc(payload + length, icrc);
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
template <Shape S>
void expect_same_when_gathered(bool ipv6, bool vlan) {
    SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(S) << " ipv6 " << ipv6 << " vlan " << vlan);
    constexpr std::uint32_t kPathMtu = 1024;
    FrameChecksum checksum(PayloadMode::synthetic, 9, true);
    const std::size_t length = is_full(S) ? kPathMtu : 0;
    const wire::HeaderDeltas& deltas = checksum.prepare(length);
    wire::FrameHeaders expected = headers(opcode_of(S), ipv6);
    if (vlan) expected.ethernet.vlan = wire::VlanTag{};
    HeaderTemplate header;
    header.make(S, expected, kPathMtu, checksum);
    expected.reth = {.virtual_address = 0x77, .remote_key = 0, .length = 0};
    alignas(64) std::array<std::byte, wire::kFrameBufferSize> by_field{};
    std::memcpy(by_field.data() + wire::kPayloadAnchor, checksum.constant_payload().data(), length);
    const wire::Frame encoded = wire::encode(expected, length, by_field.data());
    wire::seal(encoded);
    for (const std::byte before : {std::byte{0}, std::byte{0xEE}}) {
        alignas(64) std::array<std::byte, wire::kFrameBufferSize> buffer{};
        buffer.fill(before);
        wire::Frame frame{.buffer = buffer.data()};
        const std::uint32_t icrc = header.stamp<S>(frame, deltas, {.psn_word = expected.bth.psn, .address = 0x77});
        wire::put_icrc(buffer.data() + header.end(), icrc);
        std::array<std::byte, wire::kFrameBufferSize> wire{};
        ASSERT_EQ(wire::gather(frame, checksum.constant_payload(), wire), encoded.length);
        ASSERT_EQ(std::memcmp(wire.data(), encoded.data(), encoded.length), 0);
    }
    if (!ipv6) {
        const std::size_t ip = header.offset + expected.ethernet.size();
        const std::size_t last = header.end() + wire::kIcrcSize - 1;
        EXPECT_EQ(ip / 64, last / 64);
    }
}

TEST(HeaderTemplate, GivesTheFrameThatTheCodecGivesWhenGathered) {
    for (const bool ipv6 : {false, true}) {
        for (const bool vlan : {false, true}) {
            expect_same_when_gathered<Shape::write_first>(ipv6, vlan);
            expect_same_when_gathered<Shape::write_middle>(ipv6, vlan);
            expect_same_when_gathered<Shape::write_last>(ipv6, vlan);
            expect_same_when_gathered<Shape::write_last_immediate>(ipv6, vlan);
            expect_same_when_gathered<Shape::write_only>(ipv6, vlan);
            expect_same_when_gathered<Shape::write_only_immediate>(ipv6, vlan);
            expect_same_when_gathered<Shape::credit>(ipv6, vlan);
            expect_same_when_gathered<Shape::acknowledge>(ipv6, vlan);
        }
    }
}

TEST(HeaderTemplate, GivesTheFrameThatTheCodecGives) {
    for (const PayloadMode mode : {PayloadMode::synthetic, PayloadMode::memory}) {
        for (const bool ipv6 : {false, true}) {
            for (const std::uint32_t mtu : {256U, 1024U, 4096U}) {
                expect_same_as_encoded<Shape::write_first>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::write_middle>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::write_last>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::write_last_immediate>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::write_only>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::write_only_immediate>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::credit>(mode, ipv6, mtu);
                expect_same_as_encoded<Shape::acknowledge>(mode, ipv6, mtu);
            }
        }
    }
}

}  // namespace
}  // namespace gradstorm::roce
