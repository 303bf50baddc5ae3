// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace gradstorm::workload {

[[nodiscard]] constexpr bool is_gzip(std::string_view bytes) {
    return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// Unpacks all members of a gzip file (RFC 1952), refusing damaged and truncated ones and more than `limit` bytes of
/// content.
[[nodiscard]] Result<std::string> gunzip(std::string_view bytes, std::size_t limit);

}  // namespace gradstorm::workload
