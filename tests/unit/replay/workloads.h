// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/virtual_run.h"
#include "engine/workload/workload.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

/// Small workloads for the tests of replay.
namespace gradstorm::replay {

inline workload::PlannedCall call_on_all(std::uint32_t ranks, measure::CollectiveKind kind, measure::DataType type,
                                         std::uint64_t bytes, std::uint32_t channels = 1) {
    workload::PlannedCall planned;
    planned.call = {.kind = kind, .type = type, .ranks = ranks, .bytes = Bytes{bytes}, .channels = channels};
    planned.call.chunk = Bytes{16384};
    planned.group.resize(ranks);
    std::iota(planned.group.begin(), planned.group.end(), 0U);
    planned.label = fmt::format("{}[0]", measure::to_string(kind));
    return planned;
}

inline workload::Workload workload_of(std::uint32_t ranks, std::vector<workload::PlannedCall> calls) {
    workload::Workload workload;
    workload.ranks = ranks;
    workload.measurements.push_back({"test", {{"job", false, std::move(calls)}}});
    return workload;
}

inline VirtualRunOptions quick_options() {
    VirtualRunOptions options;
    options.session.payload = Payload::memory;
    options.session.repetitions = 1;
    options.session.warmup = 0;
    options.session.iterations = 2;
    options.session.queue_pair.timeout = Nanoseconds{200'000};
    return options;
}

inline SessionReport run_virtually(const workload::Workload& workload, const VirtualRunOptions& options) {
    auto run = VirtualRun::create(workload, options);
    if (!run) {
        SessionReport report;
        report.reason = run.error().message;
        return report;
    }
    return (*run)->run();
}

}  // namespace gradstorm::replay
