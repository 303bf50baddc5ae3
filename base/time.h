// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace gradstorm {

/// Every duration inside the engine: integer nanoseconds.
using Nanoseconds = std::chrono::nanoseconds;

/// The run's time axis. It has no now(): time is injected by a driver (real or virtual) and handed down as an argument,
/// so that nothing below a driver can read a clock, sleep or wait.
struct RunClock {
    using duration = Nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<RunClock>;
    static constexpr bool is_steady = true;
};

/// A point on the run's time axis; zero is the start of the run.
using Instant = RunClock::time_point;

/// "Nothing to do until something arrives": the deadline of a part that waits for no timer.
inline constexpr Instant kNoDeadline = Instant::max();

/// What a passive part (worker, software HCA, fabric, stream executor) answers to step(now).
struct StepResult {
    bool worked = false;             ///< whether anything was moved, sent, received or completed
    Instant deadline = kNoDeadline;  ///< the earliest time at which step() must be called again though nothing arrived
};

/// Both parts were stepped: any work counts, the earlier deadline rules.
[[nodiscard]] constexpr StepResult merge(StepResult a, StepResult b) {
    return {a.worked || b.worked, a.deadline < b.deadline ? a.deadline : b.deadline};
}

}  // namespace gradstorm
