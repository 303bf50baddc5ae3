// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/collective/schedule.h"
#include "profiles/profile.h"

#include <cstdint>
#include <string>
#include <vector>

/// Which collective calls a run makes, on which ranks, after which compute.
namespace gradstorm::workload {

/// One call of a job's iteration. Ranks in `call` are group-local; group[i] is the run's rank of group-local rank i.
struct PlannedCall {
    collective::Call call;
    std::vector<std::uint32_t> group;
    Nanoseconds gap{0};  ///< compute before the call: from the end of the call before, or, in a job that overlaps, from
                         ///< the moment the call before became ready
    std::string label;   ///< what a person calls it: "ddp[0]"
};

/// The calls that one job makes in each iteration, in order; a rank starts a call after it has finished the one before.
struct JobIteration {
    std::string name;
    bool overlap = false;
    std::vector<PlannedCall> calls;
};

/// What is repeated and timed as one thing: one iteration of every job, at the same time. A sweep is one measurement a
/// size, each with its own warm-up.
struct Measurement {
    std::string label;
    std::vector<JobIteration> jobs;
};

struct Workload {
    std::uint32_t ranks = 0;
    std::vector<Measurement> measurements;
    std::vector<std::string> warnings;  ///< one line each, e.g. "the trace holds no communication"
};

/// The workload that a validated profile describes. Expands sweeps, resolves groups, element counts and library
/// settings. Refuses what this version cannot replay ([[flow]], jobs by model name, settings of other algorithms),
/// naming it.
///
/// Without a sweep the run is one measurement: all jobs at the same time, labelled by their names. Where a job sweeps,
/// each of its calls and sizes is a measurement of its own, in the profile's order and labelled "all_reduce float32
/// 64 KiB", with whole iterations of the other jobs beside it; more than one sweeping job is refused.
[[nodiscard]] Result<Workload> from_profile(const profiles::Profile& profile);

}  // namespace gradstorm::workload
