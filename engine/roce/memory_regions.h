// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/transport/queue_pair.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradstorm::roce {

/// The registered ranges of one endpoint. A key is the region's number with a tag in its low byte, so that zero and
/// small integers are never valid keys, and local and remote keys differ.
class MemoryRegions {
public:
    /// `length` > 0 and no wrap around the end of the address space: the caller checked.
    [[nodiscard]] transport::MemoryRegion add(std::uint64_t address, std::uint64_t length);

    /// Whether [address, address + length) lies inside the region that this key opens.
    [[nodiscard]] bool local_allowed(std::uint32_t key, std::uint64_t address, std::uint64_t length) const {
        return (key & 0xFFU) == kLocalTag && inside(key >> 8U, address, length);
    }
    [[nodiscard]] bool remote_allowed(std::uint32_t key, std::uint64_t address, std::uint64_t length) const {
        return (key & 0xFFU) == kRemoteTag && inside(key >> 8U, address, length);
    }
    [[nodiscard]] std::size_t size() const { return ranges_.size(); }

private:
    static constexpr std::uint32_t kLocalTag = 0xA5;
    static constexpr std::uint32_t kRemoteTag = 0x5A;

    struct Range {
        std::uint64_t address = 0;
        std::uint64_t length = 0;
    };

    [[nodiscard]] bool inside(std::uint32_t number, std::uint64_t address, std::uint64_t length) const {
        if (number >= ranges_.size()) return false;
        const Range& range = ranges_[number];
        const std::uint64_t offset = address - range.address;  // wraps to a huge value when address is in front
        return offset <= range.length && length <= range.length - offset;
    }

    std::vector<Range> ranges_;
};

}  // namespace gradstorm::roce
