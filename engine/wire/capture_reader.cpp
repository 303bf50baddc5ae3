// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/capture_reader.h"

#include "engine/wire/byte_order.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

namespace gradstorm::wire {
namespace {

using namespace capture_format;

/// No Ethernet frame, jumbo or not, comes near; a larger length in a file is damage, and must not be allocated.
constexpr std::uint32_t kLargestPacket = 262'144;
constexpr std::uint32_t kLargestBlock = 16 * 1024 * 1024;
constexpr std::size_t kPcapRecordHeader = 16;
constexpr std::size_t kPacketBodyHeader = 20;

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

/// Calls `take(code, value)` for each option of a pcapng block; false when they run out of the block.
template <class Take>
bool each_option(std::span<const std::byte> options, std::endian order, Take take) {
    while (!options.empty()) {
        if (options.size() < 4) return false;
        const auto code = load<std::uint16_t>(&options[0], order);
        const std::size_t length = load<std::uint16_t>(&options[2], order);
        if (code == kOptionEnd) return true;
        if (options.size() - 4 < padded(length)) return false;
        take(code, options.subspan(4, length));
        options = options.subspan(4 + padded(length));
    }
    return true;
}

}  // namespace

std::optional<Nanoseconds> CaptureReader::Interface::time_of(std::uint64_t ticks) const {
    constexpr std::uint64_t kBillion = 1'000'000'000;
    std::uint64_t seconds = 0;
    std::uint64_t rest = 0;  // nanoseconds
    if (binary) {
        seconds = exponent < 64 ? ticks >> exponent : 0;
        std::uint64_t fraction = exponent < 64 ? ticks & ((std::uint64_t{1} << exponent) - 1) : ticks;
        // 34 bits of a fraction times 10^9 stay within 64, and are finer than a nanosecond.
        const unsigned bits = exponent < 34 ? exponent : 34;
        const unsigned spare = exponent - bits;
        fraction = spare < 64 ? fraction >> spare : 0;
        rest = fraction * kBillion >> bits;
    } else {
        std::uint64_t scale = 1;
        for (unsigned i = 0; i < exponent; ++i) {
            if (scale > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
            scale *= 10;
        }
        seconds = ticks / scale;
        const std::uint64_t fraction = ticks % scale;
        rest = scale <= kBillion ? fraction * (kBillion / scale) : fraction / (scale / kBillion);
    }
    constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / std::int64_t{kBillion} - 1;
    if (seconds > std::uint64_t{kLimit} || offset > kLimit || offset < -kLimit) return std::nullopt;
    const std::int64_t total = static_cast<std::int64_t>(seconds) + offset;
    if (total > kLimit || total < -kLimit) return std::nullopt;
    return std::chrono::seconds{total} + Nanoseconds{static_cast<std::int64_t>(rest)};
}

CaptureReader::CaptureReader(std::unique_ptr<std::istream> stream, std::string name)
    : stream_(std::move(stream)), name_(std::move(name)) {}

Result<CaptureReader> CaptureReader::open(const std::filesystem::path& path) {
    auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
    if (!*file) {
        return failure(ErrorCode::invalid_input, fmt::format("cannot open the capture file {}: {}", path.string(),
                                                             std::generic_category().message(errno)));
    }
    return read(std::move(file), path.string());
}

Result<CaptureReader> CaptureReader::read(std::unique_ptr<std::istream> stream, std::string name) {
    CaptureReader reader{std::move(stream), std::move(name)};
    if (auto good = reader.read_magic(); !good) return tl::unexpected{good.error()};
    return reader;
}

Result<std::optional<CapturedPacket>> CaptureReader::next() { return pcapng_ ? next_pcapng() : next_pcap(); }

Result<bool> CaptureReader::fill(std::size_t size, std::string_view what) {
    buffer_.resize(size);
    stream_->read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(size));
    const auto got = static_cast<std::size_t>(stream_->gcount());
    if (got == 0 && size != 0) return false;
    if (got < size) return damaged(fmt::format("ends inside {}", what));
    offset_ += size;
    return true;
}

tl::unexpected<Error> CaptureReader::damaged(std::string_view what) const {
    return failure(ErrorCode::invalid_input, fmt::format("capture file {}, byte {}: {}", name_, offset_, what));
}

template <class T>
T CaptureReader::get(std::span<const std::byte> bytes, std::size_t at) const {
    return load<T>(&bytes[at], order_);
}

Result<void> CaptureReader::read_magic() {
    auto filled = fill(4, "its first number");
    if (!filled) return tl::unexpected{filled.error()};
    if (!*filled) return damaged("the file is empty");
    const auto little = load_little<std::uint32_t>(buffer_.data());
    const auto big = load_big<std::uint32_t>(buffer_.data());
    if (little == kSectionHeaderBlock) {
        pcapng_ = true;
        // The block reader wants to see the whole block.
        stream_->seekg(0);
        offset_ = 0;
        return stream_->good() ? Result<void>{} : damaged("the file cannot be read twice: copy a pipe to a file first");
    }
    for (const std::uint32_t magic : {little, big}) {
        order_ = magic == little ? std::endian::little : std::endian::big;
        if (magic == kPcapMicroseconds || magic == kPcapNanoseconds) return read_pcap_header(magic);
    }
    return damaged("neither pcap nor pcapng");
}

Result<void> CaptureReader::read_pcap_header(std::uint32_t magic) {
    constexpr std::size_t kRest = 20;
    auto filled = fill(kRest, "the file header");
    if (!filled) return tl::unexpected{filled.error()};
    if (!*filled) return damaged("ends inside the file header");
    const auto link_type = get<std::uint32_t>(buffer_, 16);
    if (link_type != kLinkTypeEthernet) {
        return damaged(fmt::format("link type {}, only Ethernet (1) without FCS can be read", link_type));
    }
    interfaces_.push_back({.exponent = static_cast<std::uint8_t>(magic == kPcapNanoseconds ? 9 : 6)});
    return {};
}

Result<std::optional<CapturedPacket>> CaptureReader::next_pcap() {
    auto filled = fill(kPcapRecordHeader, "a packet header");
    if (!filled) return tl::unexpected{filled.error()};
    if (!*filled) return std::nullopt;
    const auto seconds = get<std::uint32_t>(buffer_, 0);
    const auto fraction = get<std::uint32_t>(buffer_, 4);
    const auto captured = get<std::uint32_t>(buffer_, 8);
    const auto original = get<std::uint32_t>(buffer_, 12);
    if (captured > kLargestPacket) return damaged(fmt::format("a packet of {} bytes", captured));
    const std::int64_t unit = interfaces_.front().exponent == 9 ? 1 : 1000;
    if (captured != 0) {
        filled = fill(captured, "a packet");
        if (!filled) return tl::unexpected{filled.error()};
        if (!*filled) return damaged("ends inside a packet");
    }
    return CapturedPacket{.time = std::chrono::seconds{seconds} + Nanoseconds{fraction * unit},
                          .original_length = original,
                          .bytes = std::span<const std::byte>{buffer_}.first(captured)};
}

Result<std::optional<CapturedPacket>> CaptureReader::next_pcapng() {
    for (;;) {
        auto block = read_block();
        if (!block) return tl::unexpected{block.error()};
        if (!*block) return std::nullopt;
        const auto& [type, body] = **block;
        Result<void> taken;
        switch (type) {
            case kSectionHeaderBlock: taken = begin_section(body); break;
            case kInterfaceBlock: taken = add_interface(body); break;
            case kEnhancedPacketBlock: return parse_packet(body);
            case kSimplePacketBlock:
            case kObsoletePacketBlock:
                return damaged(
                    fmt::format("a packet in block type {}, which this reader does not know: write the "
                                "file anew with 'editcap -F pcapng'",
                                type));
            default: break;
        }
        if (!taken) return tl::unexpected{taken.error()};
    }
}

Result<std::optional<CaptureReader::Block>> CaptureReader::read_block() {
    constexpr std::size_t kStart = 12;  // type, length, and of a section header its byte order
    auto filled = fill(kStart, "a block");
    if (!filled) return tl::unexpected{filled.error()};
    if (!*filled) return std::nullopt;
    std::array<std::byte, kStart> start{};
    std::copy_n(buffer_.begin(), kStart, start.begin());
    const bool section = load<std::uint32_t>(start.data(), order_) == kSectionHeaderBlock;
    if (section) {
        const bool little = load_little<std::uint32_t>(&start[8]) == kByteOrderMagic;
        if (!little && load_big<std::uint32_t>(&start[8]) != kByteOrderMagic) return damaged("no byte order magic");
        order_ = little ? std::endian::little : std::endian::big;
    }
    const auto type = get<std::uint32_t>(start, 0);
    const auto length = get<std::uint32_t>(start, 4);
    if (length < kBlockOverhead || length % 4 != 0 || length > kLargestBlock) {
        return damaged(fmt::format("a block of {} bytes", length));
    }
    if (length > kStart) {
        filled = fill(length - kStart, "a block");
        if (!filled) return tl::unexpected{filled.error()};
        if (!*filled) return damaged("ends inside a block");
    } else {
        buffer_.clear();
    }
    // The body begins with the last four bytes of what was read first.
    buffer_.insert(buffer_.begin(), start.begin() + 8, start.end());
    const std::span<const std::byte> rest{buffer_};
    if (get<std::uint32_t>(rest, rest.size() - 4) != length) return damaged("the two lengths of a block differ");
    return Block{.type = type, .body = rest.first(rest.size() - 4)};
}

Result<void> CaptureReader::begin_section(std::span<const std::byte> body) {
    constexpr std::size_t kFixed = 16;
    if (body.size() < kFixed) return damaged("a section header too short");
    if (const auto major = get<std::uint16_t>(body, 4); major != 1) {
        return damaged(fmt::format("pcapng version {}, only 1 can be read", major));
    }
    interfaces_.clear();
    return {};
}

Result<void> CaptureReader::add_interface(std::span<const std::byte> body) {
    constexpr std::size_t kFixed = 8;
    if (body.size() < kFixed) return damaged("an interface description too short");
    if (const auto link_type = get<std::uint16_t>(body, 0); link_type != kLinkTypeEthernet) {
        return damaged(fmt::format("interface of link type {}, only Ethernet (1) can be read", link_type));
    }
    Interface added;
    const bool whole = each_option(body.subspan(kFixed), order_, [&](std::uint16_t code, auto value) {
        if (code == kOptionTimeResolution && value.size() == 1) {
            const auto resolution = std::to_integer<std::uint8_t>(value[0]);
            added.binary = (resolution & 0x80U) != 0;
            added.exponent = resolution & 0x7FU;
        } else if (code == kOptionTimeOffset && value.size() == 8) {
            added.offset = static_cast<std::int64_t>(load<std::uint64_t>(value.data(), order_));
        }
    });
    if (!whole) return damaged("options that run out of an interface description");
    interfaces_.push_back(added);
    return {};
}

Result<CapturedPacket> CaptureReader::parse_packet(std::span<const std::byte> body) const {
    if (body.size() < kPacketBodyHeader) return damaged("an enhanced packet too short");
    const auto interface = get<std::uint32_t>(body, 0);
    if (interface >= interfaces_.size()) return damaged(fmt::format("a packet of unknown interface {}", interface));
    const auto ticks = std::uint64_t{get<std::uint32_t>(body, 4)} << 32U | get<std::uint32_t>(body, 8);
    const auto time = interfaces_[interface].time_of(ticks);
    if (!time) return damaged("a packet time out of range");
    const auto captured = get<std::uint32_t>(body, 12);
    if (captured > kLargestPacket || padded(captured) > body.size() - kPacketBodyHeader) {
        return damaged(fmt::format("a packet of {} bytes", captured));
    }
    CapturedPacket packet{.time = *time,
                          .interface = interface,
                          .original_length = get<std::uint32_t>(body, 16),
                          .bytes = body.subspan(kPacketBodyHeader, captured)};
    const auto options = body.subspan(kPacketBodyHeader + padded(captured));
    const bool whole = each_option(options, order_, [&](std::uint16_t code, auto value) {
        if (code != kOptionPacketFlags || value.size() != 4) return;
        const auto direction = load<std::uint32_t>(value.data(), order_) & 3U;
        packet.direction = direction == 3 ? CaptureDirection::unknown : static_cast<CaptureDirection>(direction);
    });
    if (!whole) return damaged("options that run out of a packet");
    return packet;
}

}  // namespace gradstorm::wire
