// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <filesystem>
#include <optional>

/// The few socket calls that joining takes; descriptors are non-blocking and closed on exec.
namespace gradstorm::cluster {

/// A listening socket at the path. A file that nobody listens on any more is taken over.
[[nodiscard]] Result<int> listen_at(const std::filesystem::path& path);
/// A new connection, or empty while there is none.
[[nodiscard]] Result<std::optional<int>> accept_from(int listener);
/// A connection, or empty while nobody listens there.
[[nodiscard]] Result<std::optional<int>> connect_to(const std::filesystem::path& path);

}  // namespace gradstorm::cluster
