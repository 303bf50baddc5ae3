// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/byte_order.h"
#include "engine/wire/capture_reader.h"
#include "engine/wire/capture_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gradstorm::wire {
namespace {

namespace fs = std::filesystem;
using namespace capture_format;

/// A path in the test's own folder, gone afterwards.
class CaptureFile {
public:
    CaptureFile()
        : path_(fs::path{testing::TempDir()} /
                (std::string{"wire_"} + testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcapng")) {}
    CaptureFile(const CaptureFile&) = delete;
    CaptureFile& operator=(const CaptureFile&) = delete;
    ~CaptureFile() { fs::remove(path_); }
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::vector<std::byte> numbered(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + size);
    return bytes;
}

/// Builds a file by hand, in either byte order.
class Image {
public:
    explicit Image(std::endian order) : order_(order) {}
    template <class T>
    Image& put(std::type_identity_t<T> value) {
        std::array<std::byte, sizeof(T)> bytes{};
        store<T>(bytes.data(), value, order_);
        return raw(bytes);
    }
    Image& raw(std::span<const std::byte> bytes) {
        for (const auto byte : bytes) text_.push_back(std::to_integer<char>(byte));
        return *this;
    }
    Image& block(std::uint32_t type, const Image& body) {
        const auto length = static_cast<std::uint32_t>(body.text_.size() + kBlockOverhead);
        put<std::uint32_t>(type).put<std::uint32_t>(length);
        text_ += body.text_;
        return put<std::uint32_t>(length);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::endian order_;
    std::string text_;
};

Result<CaptureReader> reader_of(std::string text) {
    return CaptureReader::read(std::make_unique<std::istringstream>(std::move(text)), "test.pcap");
}

/// Reads to the end; the error's message when there is one.
std::string read_all(const std::string& text, std::size_t* packets = nullptr) {
    auto reader = reader_of(text);
    if (!reader) return reader.error().message;
    for (;;) {
        const auto packet = reader->next();
        if (!packet) return packet.error().message;
        if (!*packet) return {};
        if (packets != nullptr) ++*packets;
    }
}

Image pcap_header(std::endian order, std::uint32_t magic, std::uint32_t link_type = 1) {
    Image image{order};
    image.put<std::uint32_t>(magic).put<std::uint16_t>(2).put<std::uint16_t>(4).put<std::uint32_t>(0);
    return image.put<std::uint32_t>(0).put<std::uint32_t>(65535).put<std::uint32_t>(link_type);
}

Image section(std::endian order) {
    Image body{order};
    body.put<std::uint32_t>(kByteOrderMagic).put<std::uint16_t>(1).put<std::uint16_t>(0).put<std::uint64_t>(~0ULL);
    return Image{order}.block(kSectionHeaderBlock, body);
}

Image interface_body(std::endian order, std::uint16_t link_type = 1) {
    return Image{order}.put<std::uint16_t>(link_type).put<std::uint16_t>(0).put<std::uint32_t>(0);
}

Image packet_body(std::endian order, std::uint32_t interface, std::uint64_t ticks, std::span<const std::byte> bytes) {
    Image body{order};
    body.put<std::uint32_t>(interface).put<std::uint32_t>(static_cast<std::uint32_t>(ticks >> 32U));
    body.put<std::uint32_t>(static_cast<std::uint32_t>(ticks))
        .put<std::uint32_t>(static_cast<std::uint32_t>(bytes.size()));
    body.put<std::uint32_t>(9000).raw(bytes);
    const std::array<std::byte, 3> zeros{};
    return body.raw(std::span{zeros}.first((4 - bytes.size() % 4) % 4));
}

TEST(Capture, WhatIsWrittenIsRead) {
    const CaptureFile file;
    constexpr Nanoseconds kOrigin{1'800'000'000'123'456'789};
    const std::vector<std::string> names{"rank 0", "rank 1", "c"};
    auto writer = CaptureWriter::create(file.path(), names, kOrigin);
    ASSERT_TRUE(writer) << writer.error().message;
    std::vector<std::vector<std::byte>> frames;
    for (std::size_t i = 0; i < 300; ++i) frames.push_back(numbered(i * 13 % 4200));
    for (std::size_t i = 0; i < frames.size(); ++i) {
        ASSERT_TRUE(writer->write({.interface = static_cast<std::uint32_t>(i % 3),
                                   .time = Instant{Nanoseconds{static_cast<std::int64_t>(i)}},
                                   .direction = static_cast<CaptureDirection>(i % 3),
                                   .original_length = static_cast<std::uint32_t>(frames[i].size() + i % 2),
                                   .bytes = frames[i]}));
    }
    ASSERT_TRUE(writer->close());
    auto reader = CaptureReader::open(file.path());
    ASSERT_TRUE(reader) << reader.error().message;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto packet = reader->next();
        ASSERT_TRUE(packet && *packet) << i;
        EXPECT_EQ((*packet)->time, kOrigin + Nanoseconds{static_cast<std::int64_t>(i)});
        EXPECT_EQ((*packet)->interface, i % 3);
        EXPECT_EQ((*packet)->direction, static_cast<CaptureDirection>(i % 3));
        EXPECT_EQ((*packet)->original_length, frames[i].size() + i % 2);
        EXPECT_TRUE(std::ranges::equal((*packet)->bytes, frames[i])) << i;
    }
    const auto end = reader->next();
    ASSERT_TRUE(end);
    EXPECT_FALSE(*end);
}

TEST(Capture, WriterRefusesAnUnknownInterface) {
    const CaptureFile file;
    const std::vector<std::string> names{"only"};
    auto writer = CaptureWriter::create(file.path(), names, {});
    ASSERT_TRUE(writer);
    EXPECT_FALSE(writer->write({.interface = 1}));
    auto moved = std::move(*writer);
    EXPECT_TRUE(moved.write({.interface = 0}));
    EXPECT_TRUE(moved.close());
    EXPECT_TRUE(moved.close()) << "closing twice is harmless";
    EXPECT_FALSE(moved.flush());
}

TEST(Capture, FullDiskNamesFileAndReason) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
    const std::vector<std::string> names{"a"};
    const auto writer = CaptureWriter::create("/dev/full", names, {});
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, ErrorCode::device);
    EXPECT_EQ(writer.error().message, "cannot write to the capture file /dev/full: No space left on device");
    const auto nowhere = CaptureWriter::create("/no/such/folder/x.pcapng", names, {});
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().message,
              "cannot create the capture file /no/such/folder/x.pcapng: No such file or directory");
}

TEST(Capture, FullDiskLeavesWholeBlocks) {
    // A limit on file sizes stands in for a full disk: a short write, then an error.
    const CaptureFile file;
    constexpr int kFlushed = 4;
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{2500, 2500};
        const std::vector<std::string> names{"a"};
        const auto bytes = numbered(500);
        auto writer = CaptureWriter::create(file.path(), names, {});
        if (!writer || ::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(9);
        int flushed = 0;
        while (writer->write({.original_length = 500, .bytes = bytes}) && writer->flush()) ++flushed;
        ::_exit(flushed);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), kFlushed);
    auto reader = CaptureReader::open(file.path());
    ASSERT_TRUE(reader) << reader.error().message;
    for (int i = 0; i < kFlushed; ++i) {
        const auto packet = reader->next();
        ASSERT_TRUE(packet && *packet) << i;
        EXPECT_EQ((*packet)->bytes.size(), 500U);
    }
    const auto end = reader->next();
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_FALSE(*end);
}

TEST(Capture, PcapInBothByteOrdersAndResolutions) {
    const auto bytes = numbered(61);
    for (const auto order : {std::endian::little, std::endian::big}) {
        for (const auto magic : {kPcapMicroseconds, kPcapNanoseconds}) {
            auto image = pcap_header(order, magic);
            image.put<std::uint32_t>(1'700'000'000).put<std::uint32_t>(123'456).put<std::uint32_t>(61);
            image.put<std::uint32_t>(1500).raw(bytes);
            auto reader = reader_of(image.text());
            ASSERT_TRUE(reader) << reader.error().message;
            const auto packet = reader->next();
            ASSERT_TRUE(packet && *packet);
            EXPECT_EQ((*packet)->time.count(),
                      1'700'000'000'000'000'000 + (magic == kPcapNanoseconds ? 123'456 : 123'456'000));
            EXPECT_EQ((*packet)->original_length, 1500U);
            EXPECT_TRUE(std::ranges::equal((*packet)->bytes, bytes));
            EXPECT_FALSE(*reader->next());
        }
    }
}

TEST(Capture, PcapngInBothByteOrdersSkipsOtherBlocks) {
    const auto bytes = numbered(62);
    for (const auto order : {std::endian::little, std::endian::big}) {
        auto image = section(order);
        image.block(kInterfaceBlock, interface_body(order));
        image.block(0x0000'0005, Image{order}.put<std::uint64_t>(1));  // interface statistics
        image.block(0x0000'0BAD, Image{order});                        // somebody's own, empty
        image.block(kEnhancedPacketBlock, packet_body(order, 0, 1'700'000'000'123'456, bytes));
        auto reader = reader_of(image.text());
        ASSERT_TRUE(reader) << reader.error().message;
        const auto packet = reader->next();
        ASSERT_TRUE(packet) << packet.error().message;
        ASSERT_TRUE(*packet);
        EXPECT_EQ((*packet)->time.count(), 1'700'000'000'123'456'000) << "microseconds where nothing is said";
        EXPECT_EQ((*packet)->original_length, 9000U);
        EXPECT_TRUE(std::ranges::equal((*packet)->bytes, bytes));
        EXPECT_EQ(read_all(image.text()), "");
    }
}

TEST(Capture, TimeResolutionAndOffsetOfAnInterface) {
    struct Row {
        std::uint8_t resolution;
        std::int64_t offset;
        std::uint64_t ticks;
        std::int64_t nanoseconds;
    };
    constexpr Row kRows[] = {{9, 0, 5'000'000'007, 5'000'000'007},
                             {3, 100, 1'500, 101'500'000'000},
                             {12, 0, 5'000'000'007'999, 5'000'000'007},
                             {0, -1, 3, 2'000'000'000},
                             {0x80 | 10, 0, 1024 + 512, 1'500'000'000},
                             {0x80 | 32, 0, 0x1'8000'0000, 1'500'000'000},
                             {0x80 | 63, 0, 0x4000'0000'0000'0000, 500'000'000},
                             {0x80 | 127, 7, ~0ULL, 7'000'000'000}};
    for (const auto& row : kRows) {
        const auto order = std::endian::big;
        auto interface = interface_body(order);
        interface.put<std::uint16_t>(kOptionTimeResolution).put<std::uint16_t>(1);
        interface.put<std::uint32_t>(std::uint32_t{row.resolution} << 24U);
        interface.put<std::uint16_t>(kOptionTimeOffset).put<std::uint16_t>(8);
        interface.put<std::uint64_t>(static_cast<std::uint64_t>(row.offset)).put<std::uint32_t>(0);
        auto image = section(order);
        image.block(kInterfaceBlock, interface);
        image.block(kEnhancedPacketBlock, packet_body(order, 0, row.ticks, {}));
        auto reader = reader_of(image.text());
        ASSERT_TRUE(reader) << reader.error().message;
        const auto packet = reader->next();
        ASSERT_TRUE(packet) << packet.error().message;
        EXPECT_EQ((*packet)->time.count(), row.nanoseconds) << int{row.resolution};
    }
}

TEST(Capture, SectionsBeginAnew) {
    auto image = section(std::endian::little).text();
    image += Image{std::endian::little}.block(kInterfaceBlock, interface_body(std::endian::little)).text();
    image += section(std::endian::big).text();
    image += Image{std::endian::big}.block(kEnhancedPacketBlock, packet_body(std::endian::big, 0, 0, {})).text();
    EXPECT_NE(read_all(image).find("a packet of unknown interface 0"), std::string::npos) << read_all(image);
}

TEST(Capture, DamageIsNamedWithItsPlace) {
    constexpr auto kLittle = std::endian::little;
    const auto expect = [](const std::string& text, const char* message) {
        EXPECT_NE(read_all(text).find(message), std::string::npos) << read_all(text);
        EXPECT_NE(read_all(text).find("test.pcap, byte "), std::string::npos);
    };
    expect("", "the file is empty");
    expect("GET", "ends inside its first number");
    expect("GET / HTTP/1.1", "neither pcap nor pcapng");
    expect(pcap_header(kLittle, kPcapMicroseconds).text().substr(0, 10), "ends inside the file header");
    expect(pcap_header(kLittle, kPcapMicroseconds, 113).text(), "link type 113");
    auto huge = pcap_header(kLittle, kPcapMicroseconds);
    huge.put<std::uint64_t>(0).put<std::uint32_t>(0xFFFF'FFFF).put<std::uint32_t>(0);
    expect(huge.text(), "a packet of 4294967295 bytes");
    auto cut = pcap_header(kLittle, kPcapMicroseconds);
    cut.put<std::uint64_t>(0).put<std::uint32_t>(100).put<std::uint32_t>(100);
    expect(cut.text(), "ends inside a packet");
    expect(cut.raw(numbered(99)).text(), "ends inside a packet");

    const auto start = section(kLittle).block(kInterfaceBlock, interface_body(kLittle));
    const auto with = [&](std::uint32_t type, const Image& body) { return Image{start}.block(type, body).text(); };
    expect(start.text().substr(0, start.text().size() - 1), "ends inside a block");
    expect(with(kEnhancedPacketBlock, Image{kLittle}.put<std::uint32_t>(0)), "an enhanced packet too short");
    expect(with(kEnhancedPacketBlock, packet_body(kLittle, 1, 0, {})), "unknown interface 1");
    expect(with(kSimplePacketBlock, Image{kLittle}.put<std::uint32_t>(0)), "block type 3");
    expect(with(kInterfaceBlock, interface_body(kLittle, 127)), "interface of link type 127");
    auto options = packet_body(kLittle, 0, 0, {});
    options.put<std::uint16_t>(kOptionPacketFlags).put<std::uint16_t>(400);
    expect(with(kEnhancedPacketBlock, options), "options that run out of a packet");
    auto length = start.text();
    length[length.size() - 4] = static_cast<char>(length[length.size() - 4] ^ 4);
    expect(length, "the two lengths of a block differ");
}

TEST(Capture, PacketCountsFromNoneToMany) {
    for (const std::size_t count : {0U, 1U, 2U, 4095U, 4096U, 65536U}) {
        auto image = pcap_header(std::endian::little, kPcapNanoseconds);
        const auto bytes = numbered(60);
        for (std::size_t i = 0; i < count; ++i) {
            image.put<std::uint64_t>(i).put<std::uint32_t>(60).put<std::uint32_t>(60).raw(bytes);
        }
        std::size_t packets = 0;
        EXPECT_EQ(read_all(image.text(), &packets), "");
        EXPECT_EQ(packets, count);
    }
}

TEST(Capture, SharedPktgenCapture) {
    const fs::path path = fs::path{GRADSTORM_SHARED_DATA} / "pcap/pktgen-test1.pcap";
    if (!fs::exists(path)) GTEST_SKIP() << "no " << path << " beside this checkout";
    auto reader = CaptureReader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    std::size_t packets = 0;
    std::size_t bytes = 0;
    std::size_t shortest = 10'000;
    std::size_t longest = 0;
    Nanoseconds first{};
    Nanoseconds last{};
    for (auto packet = reader->next(); packet && *packet; packet = reader->next()) {
        if (packets++ == 0) first = (*packet)->time;
        last = (*packet)->time;
        bytes += (*packet)->bytes.size();
        shortest = std::min(shortest, (*packet)->bytes.size());
        longest = std::max(longest, (*packet)->bytes.size());
    }
    EXPECT_EQ(packets, 28U);
    EXPECT_EQ(shortest, 60U);
    EXPECT_EQ(longest, 594U);
    EXPECT_NEAR(static_cast<double>(bytes) / 28, 132.6, 0.05);
    EXPECT_NEAR(static_cast<double>((last - first).count()) / 1e9, 5.83, 0.005);
}

}  // namespace
}  // namespace gradstorm::wire
