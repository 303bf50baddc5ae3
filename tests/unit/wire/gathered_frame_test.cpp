// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/gathered_frame.h"

#include "engine/wire/frame_codec.h"
#include "engine/wire/icrc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace gradstorm::wire {
namespace {

FrameHeaders headers_of(Opcode opcode, bool v4, bool vlan) {
    FrameHeaders headers;
    if (vlan) headers.ethernet.vlan = VlanTag{};
    headers.ip.source = *parse_ip(v4 ? "10.0.0.1" : "fd00::1");
    headers.ip.destination = *parse_ip(v4 ? "10.0.0.2" : "fd00::2");
    headers.bth.opcode = opcode;
    headers.bth.psn = 77;
    return headers;
}

/// The same frame twice: whole in one buffer, and as a port of gathered frames keeps it in another.
struct Twin {
    std::vector<std::byte> whole_buffer = std::vector<std::byte>(kFrameBufferSize);
    std::vector<std::byte> gathered_buffer = std::vector<std::byte>(kFrameBufferSize, std::byte{0xEE});
    Frame whole;
    Frame gathered;

    Twin(const FrameHeaders& headers, std::span<const std::byte> payload) {
        whole = encode(headers, payload.size(), whole_buffer.data());
        std::ranges::copy(payload, whole_buffer.begin() + kPayloadAnchor);
        seal(whole);
        gathered = whole;
        gathered.buffer = gathered_buffer.data();
        const std::size_t header = kPayloadAnchor - std::size_t{whole.offset};
        std::memcpy(gathered.data(), whole.data(), header);
        std::memcpy(gathered.data() + header, whole.data() + whole.length - kIcrcSize, kIcrcSize);
    }
};

std::vector<std::byte> constant() {
    std::vector<std::byte> payload(kMaxPathMtu);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7 + 1);
    return payload;
}

TEST(GatheredFrame, IsOnTheWireWhatTheWholeFrameIs) {
    const std::vector<std::byte> payload = constant();
    for (const bool v4 : {true, false}) {
        for (const bool vlan : {true, false}) {
            for (const Opcode opcode : {Opcode::write_only, Opcode::write_only_immediate, Opcode::write_middle}) {
                for (const std::size_t length : {0U, 1U, 2U, 3U, 4U, 255U, 1024U, 4093U, 4096U}) {
                    const Twin twin(headers_of(opcode, v4, vlan), std::span{payload}.first(length));
                    std::vector<std::byte> wire(kFrameBufferSize);
                    const std::size_t size = gather(twin.gathered, payload, wire);
                    ASSERT_EQ(size, twin.whole.length) << length;
                    ASSERT_EQ(std::memcmp(wire.data(), twin.whole.data(), size), 0) << length << v4 << vlan;
                    ASSERT_TRUE(verify_icrc({wire.data(), size}));
                }
            }
        }
    }
}

TEST(GatheredFrame, IsCutOffWhereTheRoomEnds) {
    const std::vector<std::byte> payload = constant();
    const Twin twin(headers_of(Opcode::write_only, true, false), std::span{payload}.first(1021));
    for (const std::size_t room :
         {std::size_t{0}, std::size_t{20}, std::size_t{80}, std::size_t{1090}, std::size_t{twin.whole.length} - 2}) {
        std::vector<std::byte> wire(room);
        ASSERT_EQ(gather(twin.gathered, payload, wire), room);
        ASSERT_TRUE(std::equal(wire.begin(), wire.end(), twin.whole.data())) << room;
    }
}

}  // namespace
}  // namespace gradstorm::wire
