// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/wire/capture_format.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::wire {

/// Writes Ethernet frames to a pcapng file with nanosecond times that Wireshark and tshark read. Control code: it
/// allocates and blocks on the disk. One thread at a time. Errors name the file and what the system said, e.g. that the
/// disk is full; after one the file ends with the last block of the flush before.
class CaptureWriter {
public:
    /// Makes or replaces the file. `interfaces` are the names of the ports, in the order that write() refers to.
    /// `origin` is the Unix time of Instant 0, so that captures of several processes lie on one axis.
    [[nodiscard]] static Result<CaptureWriter> create(const std::filesystem::path& path,
                                                      std::span<const std::string> interfaces, Nanoseconds origin);
    CaptureWriter(CaptureWriter&& other) noexcept;
    CaptureWriter& operator=(CaptureWriter&& other) noexcept;
    ~CaptureWriter();  ///< closes; call close() before to learn whether all bytes arrived

    struct Packet {
        std::uint32_t interface = 0;
        Instant time{};
        CaptureDirection direction = CaptureDirection::unknown;
        std::uint32_t original_length = 0;   ///< on the wire; bytes may hold less of it
        std::span<const std::byte> bytes{};  ///< Ethernet header first, no FCS
    };
    [[nodiscard]] Result<void> write(const Packet& packet);
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] Result<void> close();

private:
    CaptureWriter(std::filesystem::path path, int file, Nanoseconds origin);
    void append_section();
    void append_interface(const std::string& name);

    std::filesystem::path path_;
    int file_ = -1;
    Nanoseconds origin_{};
    std::uint32_t interfaces_ = 0;
    std::vector<std::byte> pending_;  ///< whole blocks not yet written
    std::uint64_t size_ = 0;          ///< of the whole blocks in the file
};

}  // namespace gradstorm::wire
