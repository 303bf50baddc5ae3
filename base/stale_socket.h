// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <filesystem>

namespace gradstorm {

/// Makes way for a new listener: removes the file of a Unix socket that nobody listens on any more, as a killed process
/// leaves it. Nothing there is fine. A stream or seqpacket listener that is alive notices nothing.
/// Error: device (somebody listens there; the file is no socket, or not ours to judge).
[[nodiscard]] Result<void> remove_stale_socket(const std::filesystem::path& path);

}  // namespace gradstorm
