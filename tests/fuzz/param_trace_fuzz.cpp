// SPDX-License-Identifier: Apache-2.0
// The importer of execution traces: whatever the bytes, it answers with a trace or one line.
#include "engine/workload/import/trace.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto trace =
        gradstorm::workload::import_trace("fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
    if (!trace) {
        // One line that begins with the path: promised to the command line.
        const std::string_view message = trace.error().message;
        if (!message.starts_with("fuzz:") || message.find('\n') != std::string_view::npos) std::abort();
        return 0;
    }
    for (const auto& call : trace->calls) {
        if (call.group >= trace->groups.size()) std::abort();
        if (call.root >= trace->groups[call.group].ranks.size()) std::abort();
    }
    return 0;
}
