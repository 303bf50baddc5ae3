// SPDX-License-Identifier: Apache-2.0
#include "engine/events/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradstorm::events {
namespace {

struct Seen {
    std::vector<Event> events;
    std::vector<Chunk> chunks;
};

Result<Decoded> decode_text(const std::string& bytes, Seen& seen, bool at_start = true) {
    return decode(
        std::as_bytes(std::span{bytes}), at_start, [&](const Event& e) { seen.events.push_back(e); },
        [&](const Chunk& c) { seen.chunks.push_back(c); });
}

/// A journal of four records and where each ends.
struct Sample {
    std::string bytes;
    std::vector<std::size_t> ends;

    Sample() {
        std::string record;
        const auto append = [&] {
            bytes += record;
            ends.push_back(bytes.size());
        };
        encode_format(record);
        append();
        encode(Event{Instant{Nanoseconds{-7}}, "warning", R"({"text":"a b"})"}, record);
        append();
        encode(Chunk{ChunkKind::completion_times, 1, 2, 3, {1, UINT64_MAX, 0}}, record);
        append();
        encode(Event{Instant{Nanoseconds{9}}, "x", "{}"}, record);
        append();
    }
};

TEST(RecordCodecTest, RecordsComeBackAsTheyWere) {
    const Sample sample;
    Seen seen;
    const auto decoded = decode_text(sample.bytes, seen);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->records, 4U);
    EXPECT_EQ(decoded->consumed, sample.bytes.size());
    EXPECT_EQ(decoded->damage, "");
    ASSERT_EQ(seen.events.size(), 2U);
    EXPECT_EQ(seen.events[0].time, Instant{Nanoseconds{-7}});
    EXPECT_EQ(seen.events[0].kind, "warning");
    EXPECT_EQ(seen.events[0].json, R"({"text":"a b"})");
    ASSERT_EQ(seen.chunks.size(), 1U);
    EXPECT_EQ(seen.chunks[0].measurement, 1U);
    EXPECT_EQ(seen.chunks[0].call, 2U);
    EXPECT_EQ(seen.chunks[0].repetition, 3U);
    EXPECT_THAT(seen.chunks[0].values, testing::ElementsAre(1U, UINT64_MAX, 0U));
}

TEST(RecordCodecTest, TheBytesAreTheDocumentedOnes) {
    std::string record;
    encode(Event{Instant{Nanoseconds{0x0102}}, "k", "{}"}, record);
    // length 15, CRC-32 of what follows, type 2, time, length of the kind, kind, fields
    const std::string covered{"\x02\x00\x00\x00\x02\x01\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00k{}", 19};
    EXPECT_EQ(record.substr(0, 4), (std::string{"\x0f\x00\x00\x00", 4}));
    EXPECT_EQ(record.substr(8), covered);
}

TEST(RecordCodecTest, EveryTornLengthKeepsTheWholeRecordsBeforeIt) {
    const Sample sample;
    for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
        Seen seen;
        const auto decoded = decode_text(sample.bytes.substr(0, length), seen);
        ASSERT_TRUE(decoded) << length;
        std::size_t whole = 0;
        while (sample.ends[whole] <= length) ++whole;
        EXPECT_EQ(decoded->records, whole) << length;
        EXPECT_EQ(decoded->consumed, whole == 0 ? 0 : sample.ends[whole - 1]) << length;
        EXPECT_EQ(decoded->damage, "") << length << ": torn is not damaged";
    }
}

TEST(RecordCodecTest, EveryFlippedBitIsFound) {
    const Sample sample;
    for (std::size_t byte = sample.ends[0]; byte < sample.bytes.size(); ++byte) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string bytes = sample.bytes;
            bytes[byte] = static_cast<char>(bytes[byte] ^ static_cast<char>(1U << bit));
            Seen seen;
            const auto decoded = decode_text(bytes, seen);
            ASSERT_TRUE(decoded);
            // Either found damaged, or (a longer length) not whole; never handed out.
            EXPECT_LT(decoded->consumed, sample.bytes.size()) << byte << '.' << bit;
            EXPECT_LE(decoded->consumed, byte) << byte << '.' << bit;
        }
    }
}

TEST(RecordCodecTest, OtherFilesAndNewerFormatsAreNamed) {
    Seen seen;
    const auto other = decode_text("SQLite format 3 and then something else, long enough to hold a whole record", seen);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().message, "not a gradstorm journal");

    // Format version 2, made with Python's struct and zlib: also an outside check of the checksum.
    const std::string newer{
        "\x15\x00\x00\x00\xe7\x9a\x97\x4b\x01\x00\x00\x00"
        "gradstorm journal"
        "\x02\x00\x00\x00",
        33};
    const auto refused = decode_text(newer, seen);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::store);
    EXPECT_EQ(refused.error().message,
              "journal format 2 is newer than this version understands (1), read it with a newer gradstorm");
}

TEST(RecordCodecTest, RecordsOfUnknownTypeAreDamageNotSilence) {
    std::string format;
    encode_format(format);
    Seen seen;
    const auto decoded = decode_text(format + format, seen);  // a format record where none belongs
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->records, 1U);
    EXPECT_EQ(decoded->damage, "its type 1 is unknown here");
}

}  // namespace
}  // namespace gradstorm::events
