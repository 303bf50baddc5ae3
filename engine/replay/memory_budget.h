// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/workload/workload.h"

#include <cstdint>
#include <optional>

namespace gradstorm::replay {

/// What a session asks of the host's memory, next to which everything else is small.
struct MemoryBudget {
    double buffers = 0;  ///< bytes of the ranks' buffers
    double times = 0;    ///< bytes of the times of iterations, kept until the end of the run
};

/// Of a session with `local_ranks` ranks in this process. A double, since profiles can ask for more than 2^64 bytes.
[[nodiscard]] double bytes_of_times(const workload::Workload& workload, std::uint64_t local_ranks,
                                    std::uint64_t iterations, std::uint64_t repetitions);

/// Refuses (device) what would wake the kernel's out-of-memory killer in the middle of a run, naming what takes how
/// much and what would take less. No answer from the kernel: no refusal.
[[nodiscard]] Result<void> check_budget(const MemoryBudget& budget, std::optional<Bytes> available);

}  // namespace gradstorm::replay
