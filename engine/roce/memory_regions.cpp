// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/memory_regions.h"

namespace gradstorm::roce {

transport::MemoryRegion MemoryRegions::add(std::uint64_t address, std::uint64_t length) {
    const auto number = static_cast<std::uint32_t>(ranges_.size());
    ranges_.push_back({address, length});
    return {.address = address,
            .length = length,
            .local_key = number << 8U | kLocalTag,
            .remote_key = number << 8U | kRemoteTag};
}

}  // namespace gradstorm::roce
