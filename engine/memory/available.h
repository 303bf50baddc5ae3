// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"

#include <optional>
#include <string_view>

namespace gradstorm::memory {

/// What the host can still give without swapping: MemAvailable of /proc/meminfo. Empty where the kernel does not say.
/// Limits of a control group are not looked at.
[[nodiscard]] std::optional<Bytes> available_memory();

/// MemAvailable in the text of /proc/meminfo.
[[nodiscard]] std::optional<Bytes> available_in(std::string_view meminfo);

}  // namespace gradstorm::memory
