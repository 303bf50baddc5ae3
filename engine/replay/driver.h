// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/replay/worker.h"

#include <functional>
#include <string>
#include <vector>

/// Who calls step(). Workers are passive; time comes from here alone.
namespace gradstorm::replay {

/// What the control thread finds when it looks after the run.
struct MonitorResult {
    bool done = false;               ///< park the workers and return
    Instant deadline = kNoDeadline;  ///< look again by then
};
using Monitor = std::function<MonitorResult(Instant now)>;

class Driver {
public:
    Driver() = default;
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    virtual ~Driver() = default;

    [[nodiscard]] virtual Instant now() const = 0;
    /// Takes the workers, parked. Once, before run().
    [[nodiscard]] virtual Result<void> start(std::vector<Worker*> workers) = 0;
    /// Lets the workers step until the monitor is done; when it returns, all of them are parked and what they wrote is
    /// visible. Fails when a worker does not come back.
    [[nodiscard]] virtual Result<void> run(const Monitor& monitor) = 0;
    /// Waits outside the workers, which stay parked, until the monitor is done.
    virtual void wait(const Monitor& monitor) = 0;

    [[nodiscard]] virtual std::string clock_description() const = 0;
    [[nodiscard]] virtual double clock_residual_ppm() const = 0;
};

}  // namespace gradstorm::replay
