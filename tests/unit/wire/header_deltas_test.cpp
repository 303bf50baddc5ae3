// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/header_deltas.h"

#include "engine/wire/frame_codec.h"
#include "engine/wire/icrc.h"
#include "engine/wire/opcode.h"
#include "tests/unit/wire/sample_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace gradstorm::wire {
namespace {

/// A field that may change from frame to frame, by its distance from the payload.
struct Field {
    std::size_t place = 0;
    std::size_t size = 0;
    std::uint64_t mask = ~std::uint64_t{0};
};

/// Every field that the ICRC covers from the UDP source port on, but those that say how long the frame is.
std::vector<Field> fields_of(Opcode opcode) {
    const std::size_t extended = extended_header_size(opcode);
    std::vector<Field> fields{{HeaderDeltas::source_port_place(extended), 2},
                              {extended + 8, 2},  // partition key
                              {extended + 4, 3},  // queue pair
                              {extended, 4}};     // AckReq and PSN
    const std::size_t tail = (has_immediate(opcode) ? kImmediateSize : 0U) + (has_aeth(opcode) ? kAethSize : 0U);
    if (tail > 0) fields.push_back({0, tail});
    if (has_reth(opcode)) {
        fields.push_back({tail + 8, 8});  // address
        fields.push_back({tail + 4, 4});  // remote key
        fields.push_back({tail, 4});      // length
    }
    return fields;
}

/// A frame that is changed again and again, its ICRC kept right by deltas alone.
class ChangingFrame {
public:
    ChangingFrame(std::mt19937_64& random, Opcode opcode, bool ipv4, bool vlan, std::size_t payload)
        : random_(random), fields_(fields_of(opcode)), payload_(payload), padded_(payload + pad_count(payload)) {
        bytes_ = test::make_frame(random, test::random_headers(random, opcode, ipv4, vlan), payload);
        header_ = bytes_.size() - kIcrcSize - padded_;
        icrc_ = icrc(covered());
    }

    void change_field(const HeaderDeltas& deltas) {
        const Field& field = fields_[random_() % fields_.size()];
        const std::size_t at = header_ - field.place - field.size;
        std::uint64_t difference = 0;
        for (std::size_t i = 0; i < field.size; ++i) {
            const auto flip = static_cast<std::uint8_t>(random_());
            bytes_[at + i] ^= std::byte{flip};
            difference = difference << 8U | flip;
        }
        icrc_ ^= deltas.field(field.place, field.size, difference);
    }

    /// Another payload, in three segments.
    void change_payload() {
        icrc_ ^= crc32_update(0, std::span{bytes_}.subspan(header_, padded_));
        for (std::size_t i = 0; i < payload_; ++i) bytes_[header_ + i] = static_cast<std::byte>(random_());
        const std::size_t first = payload_ == 0 ? 0 : random_() % payload_;
        const std::size_t second = first + (padded_ - first) / 2;
        std::uint32_t state = 0;
        state = crc32_update(state, std::span{bytes_}.subspan(header_, first));
        state = crc32_update(state, std::span{bytes_}.subspan(header_ + first, second - first));
        state = crc32_update(state, std::span{bytes_}.subspan(header_ + second, padded_ - second));
        icrc_ ^= state;
    }

    [[nodiscard]] bool right() const { return icrc_ == icrc(covered()); }

private:
    [[nodiscard]] std::span<const std::byte> covered() const { return std::span{bytes_}.first(header_ + padded_); }

    std::mt19937_64& random_;
    std::vector<Field> fields_;
    std::size_t payload_;
    std::size_t padded_;
    std::vector<std::byte> bytes_;
    std::size_t header_ = 0;
    std::uint32_t icrc_ = 0;
};

TEST(HeaderDeltas, KeepTheIcrcOfAMillionFramesRight) {
    constexpr std::size_t kFrames = 1'000'000;
    constexpr std::array<std::size_t, 20> kPayloads{0,   1,   2,   3,   4,   5,    63,   64,   65,   255,
                                                    256, 257, 511, 512, 513, 1023, 1024, 2047, 4093, 4096};
    constexpr std::size_t kEach = kFrames / (kPayloads.size() * test::kOpcodes.size() * 4) + 1;
    std::mt19937_64 random{3};
    std::size_t frames = 0;
    for (const std::size_t payload : kPayloads) {
        const auto deltas = std::make_unique<HeaderDeltas>(payload + pad_count(payload));
        for (const Opcode opcode : test::kOpcodes) {
            for (const unsigned kind : {0U, 1U, 2U, 3U}) {
                ChangingFrame frame(random, opcode, kind % 2 == 0, kind / 2 == 0, payload);
                for (std::size_t i = 0; i < kEach; ++i, ++frames) {
                    frame.change_field(*deltas);
                    if (i % 8 == 0) frame.change_payload();
                    ASSERT_TRUE(frame.right()) << static_cast<int>(opcode) << ' ' << payload << ' ' << kind;
                }
            }
        }
    }
    EXPECT_GE(frames, kFrames);
}

TEST(HeaderDeltas, PlaceAndSizeMayBeKnownWhenCompiled) {
    const HeaderDeltas deltas(100);
    EXPECT_EQ((deltas.field<8, 8>(0x1122'3344'5566'7788)), deltas.field(8, 8, 0x1122'3344'5566'7788));
    EXPECT_EQ((deltas.field<34, 2>(0xABCD)), deltas.field(HeaderDeltas::source_port_place(kRethSize), 2, 0xABCD));
}

}  // namespace
}  // namespace gradstorm::wire
