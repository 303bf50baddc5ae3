// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/run_result.h"

namespace gradstorm::app {

/// What a run record says about the machine it ran on: host, CPU, cores, kernel, memory, versions. An allow-list:
/// never the environment variables.
[[nodiscard]] measure::KeyValues host_environment();

/// Now, as ISO 8601 in UTC with seconds: "2026-01-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

/// A random (version 4) UUID.
[[nodiscard]] std::string new_uuid();

}  // namespace gradstorm::app
