// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <string>

namespace gradstorm::profiles {

/// The bytes of a file or pipe of at most 16 MiB, or why it cannot be read, without its name.
[[nodiscard]] tl::expected<std::string, std::string> read_text(const std::string& path);

}  // namespace gradstorm::profiles
