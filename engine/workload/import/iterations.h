// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/workload/import/param_trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gradstorm::workload {

/// The iteration of a recorded trace that stands for all of them.
struct ChosenIteration {
    std::vector<TraceCall> calls;
    std::uint32_t recorded = 0;  ///< iterations with communication in the trace
    std::vector<std::string> warnings;
};

/// By the rules at the top of trace.h.
[[nodiscard]] ChosenIteration choose_iteration(const RecordedTrace& trace);

}  // namespace gradstorm::workload
