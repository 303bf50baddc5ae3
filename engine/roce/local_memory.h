// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradstorm::roce {

/// The bytes at an address of the protocol. Precondition: memory mode, and checked against a registered region.
[[nodiscard]] inline std::byte* memory_at(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): the program's own address
}

}  // namespace gradstorm::roce
