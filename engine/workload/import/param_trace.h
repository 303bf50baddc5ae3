// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/workload/import/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradstorm::workload {

/// All collective calls of a PyTorch/PARAM execution trace, in the order of their nodes, before it is cut into
/// iterations.
struct RecordedTrace {
    std::string schema;
    std::uint64_t nodes = 0;  ///< of any kind
    std::uint32_t ranks = 0;
    std::vector<TraceGroup> groups;
    std::vector<TraceCall> calls;
    std::vector<std::uint64_t> step_nodes;  ///< ids of the profiler's step markers, ascending
    std::vector<std::string> warnings;      ///< without the path
};

/// Reads the JSON text of a trace (import-formats.md, section 6). Communication is in the nodes `record_param_comms`:
/// element counts, an element type by PyTorch's name, a process group by name. `wait`, `barrier` and `init` are no
/// traffic. Errors begin with the path.
[[nodiscard]] Result<RecordedTrace> read_param_trace(const std::string& path, std::string_view json);

}  // namespace gradstorm::workload
