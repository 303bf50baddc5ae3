// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/app/run_execution.h"
#include "engine/app/subject.h"

namespace gradstorm::app {

/// Runs a subject in virtual time on the fabric of heap frames: the protocol, schedules and executors of a real run,
/// deterministic on any machine, no hardware. Equal subjects give equal journals, byte for byte.
[[nodiscard]] Result<FinishedRun> run_in_virtual_time(const Subject& subject, const RecorderOptions& record);

}  // namespace gradstorm::app
