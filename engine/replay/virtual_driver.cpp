// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/virtual_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradstorm::replay {

Result<void> VirtualDriver::start(std::vector<Worker*> workers) {
    workers_ = std::move(workers);
    return {};
}

StepResult VirtualDriver::step_all() {
    StepResult result;
    for (Worker* worker : workers_) result = merge(result, worker->step(now_));
    return result;
}

Result<void> VirtualDriver::run(const Monitor& monitor) {
    std::uint64_t rounds = 0;
    while (true) {
        const MonitorResult seen = monitor(now_);
        if (seen.done) return {};
        const StepResult stepped = step_all();
        if (++rounds > most_rounds_) {
            return failure(ErrorCode::timeout,
                           fmt::format("virtual time stands still at {} ns: workers find work for ever, which is a "
                                       "fault of this program",
                                       now_.time_since_epoch().count()));
        }
        if (stepped.worked) continue;
        const Instant next = std::min(stepped.deadline, seen.deadline);
        if (next == kNoDeadline) {
            return failure(
                ErrorCode::timeout,
                "virtual time cannot go on: nobody has work or a deadline, which is a fault of this program");
        }
        if (next > now_) {
            now_ = next;
            rounds = 0;
        }
    }
}

/// Nobody else lives in this time, so waiting is jumping.
void VirtualDriver::wait(const Monitor& monitor) {
    while (true) {
        const MonitorResult seen = monitor(now_);
        if (seen.done || seen.deadline == kNoDeadline) return;
        now_ = std::max(now_, seen.deadline);
    }
}

}  // namespace gradstorm::replay
