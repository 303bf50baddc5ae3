// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/compose.h"
#include "engine/app/run_recorder.h"
#include "engine/app/subject.h"
#include "engine/cluster/rendezvous.h"
#include "engine/measure/run_result.h"
#include "engine/replay/session.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// One run from a subject to its record: the same for `run`, `selftest` and, in virtual time, `replay-seed`.
namespace gradstorm::app {

struct RunRequest {
    const Subject* subject = nullptr;
    RecorderOptions record;
    cluster::Rendezvous* rendezvous = nullptr;  ///< null: this process is all nodes
    std::atomic<int>* stop = nullptr;           ///< stop signals so far; raised when nothing can be recorded any more
    Nanoseconds stop_timeout{std::chrono::seconds{10}};
    bool show_progress = false;
};

struct FinishedRun {
    measure::RunResult result;
    int exit_code = 0;      ///< of the outcome, or of the error that kept the session from beginning
    std::string stored_as;  ///< "run 12 in FILE"; empty when nothing is kept
    std::string notice;     ///< of the store
};

/// Brings up the transport, runs the session on real time, records everything. An error means that the run could not
/// begin and has no record; whatever goes wrong later is in the result.
[[nodiscard]] Result<FinishedRun> run_in_real_time(const RunRequest& request);

/// The settings of the profile that a session takes.
[[nodiscard]] replay::SessionOptions session_options(const profiles::Profile& profile);

/// The run's identity and settings, nothing measured. Without host and time where `virtual_time` is set.
[[nodiscard]] measure::RunResult announced_run(const Subject& subject, bool virtual_time);

/// Records what the importer of a trace could not take over, and the settings that change nothing.
void record_warnings(RunRecorder& recorder, const Subject& subject, bool virtual_time, Instant time);

/// Outcome and reason of the run. On a real network a run that its generator bound is `invalid` and cannot pass; where
/// the network is emulated by this process the self-check only informs: there the generator always binds.
[[nodiscard]] std::pair<measure::Outcome, std::string> judged(const replay::SessionReport& report,
                                                              bool network_is_emulated);

/// Hands what only the end of a session knows to the recorder, and closes the record.
void record_report(RunRecorder& recorder, const replay::SessionReport& report, bool network_is_emulated, Instant end);

}  // namespace gradstorm::app
