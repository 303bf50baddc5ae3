// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/wire/capture_format.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::wire {

struct CapturedPacket {
    Nanoseconds time{};                 ///< since the Unix epoch
    std::uint32_t interface = 0;        ///< of the section; 0 in pcap files
    std::uint32_t original_length = 0;  ///< on the wire
    CaptureDirection direction = CaptureDirection::unknown;
    std::span<const std::byte> bytes;  ///< Ethernet header first; valid until the next call
};

/// Reads captures of Ethernet frames, packet by packet, in bounded memory: pcap with micro- or nanoseconds and pcapng
/// (sections, interfaces, enhanced packets; other blocks are skipped), both byte orders. Anything that cannot be read
/// exactly is an error that names the file and the byte offset: no packet is left out silently. Control code, one
/// thread at a time.
class CaptureReader {
public:
    [[nodiscard]] static Result<CaptureReader> open(const std::filesystem::path& path);
    /// From any stream; `name` stands in errors.
    [[nodiscard]] static Result<CaptureReader> read(std::unique_ptr<std::istream> stream, std::string name);

    /// The next packet, or nothing at the end of the file.
    [[nodiscard]] Result<std::optional<CapturedPacket>> next();

private:
    /// How an interface counts time: ticks of 10^-exponent or 2^-exponent seconds after `offset` seconds.
    struct Interface {
        bool binary = false;
        std::uint8_t exponent = 6;
        std::int64_t offset = 0;
        [[nodiscard]] std::optional<Nanoseconds> time_of(std::uint64_t ticks) const;
    };
    struct Block {
        std::uint32_t type = 0;
        std::span<const std::byte> body;
    };

    CaptureReader(std::unique_ptr<std::istream> stream, std::string name);
    [[nodiscard]] Result<void> read_magic();
    [[nodiscard]] Result<void> read_pcap_header(std::uint32_t magic);
    [[nodiscard]] Result<std::optional<CapturedPacket>> next_pcap();
    [[nodiscard]] Result<std::optional<CapturedPacket>> next_pcapng();
    [[nodiscard]] Result<std::optional<Block>> read_block();
    [[nodiscard]] Result<void> begin_section(std::span<const std::byte> body);
    [[nodiscard]] Result<void> add_interface(std::span<const std::byte> body);
    [[nodiscard]] Result<CapturedPacket> parse_packet(std::span<const std::byte> body) const;

    /// Fills the buffer with `size` bytes; false at the very end of the file, an error inside.
    [[nodiscard]] Result<bool> fill(std::size_t size, std::string_view what);
    [[nodiscard]] tl::unexpected<Error> damaged(std::string_view what) const;
    template <class T>
    [[nodiscard]] T get(std::span<const std::byte> bytes, std::size_t at) const;

    std::unique_ptr<std::istream> stream_;
    std::string name_;
    std::uint64_t offset_ = 0;  ///< in the file, of what comes next
    std::vector<std::byte> buffer_;
    bool pcapng_ = false;
    std::endian order_ = std::endian::little;
    std::vector<Interface> interfaces_;
};

}  // namespace gradstorm::wire
