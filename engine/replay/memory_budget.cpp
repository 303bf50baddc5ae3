// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace gradstorm::replay {

double bytes_of_times(const workload::Workload& workload, std::uint64_t local_ranks, std::uint64_t iterations,
                      std::uint64_t repetitions) {
    constexpr double kTime = sizeof(std::int64_t);
    double results = 0;    // of each measurement and repetition: the slowest rank's
    double executors = 0;  // of the measurement under way: begin and end on every rank
    for (const auto& measurement : workload.measurements) {
        double series = 0;
        for (const auto& job : measurement.jobs) series += 1 + static_cast<double>(job.calls.size());
        results += series * kTime * static_cast<double>(repetitions);
        executors = std::max(executors, 2 * series * kTime * static_cast<double>(local_ranks));
    }
    return (results + executors) * static_cast<double>(iterations);
}

Result<void> check_budget(const MemoryBudget& budget, std::optional<Bytes> available) {
    constexpr double kGibibyte = 1U << 30U;
    const double wanted = budget.buffers + budget.times;
    if (!available || wanted <= static_cast<double>(available->value)) return {};
    const bool times = budget.times > budget.buffers;
    return failure(
        ErrorCode::device,
        fmt::format("not enough memory: {:.1f} GiB for the buffers of the ranks and {:.1f} GiB for the times "
                    "of iterations, this host has {:.1f} GiB left; use {}",
                    budget.buffers / kGibibyte, budget.times / kGibibyte,
                    static_cast<double>(available->value) / kGibibyte,
                    times ? "fewer run.iterations or run.repetitions"
                          : "fewer ranks, smaller calls or transport.payload = \"synthetic\""));
}

}  // namespace gradstorm::replay
