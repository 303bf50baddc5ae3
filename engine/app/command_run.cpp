// SPDX-License-Identifier: Apache-2.0
#include "engine/app/commands.h"
#include "engine/app/meeting.h"
#include "engine/app/result_text.h"
#include "engine/app/run_execution.h"
#include "engine/app/stop_request.h"
#include "engine/app/terminal.h"

namespace gradstorm::app {

namespace {

Result<RecorderOptions> recorder_options(const RunCommand& command) {
    RecorderOptions options;
    options.events = command.events;
    if (command.no_store) return options;
    if (command.store) {
        options.store = *command.store;
        return options;
    }
    auto store = default_store();
    if (!store) return tl::unexpected(store.error());
    options.store = std::move(*store);
    return options;
}

/// A run that measured nothing has no table worth printing: its one line says why. A script gets its document always.
bool worth_printing(const measure::RunResult& result, OutputFormat format) {
    if (format != OutputFormat::table) return true;
    return !result.measurements.empty() && !result.measurements.front().iteration_ns.empty();
}

int report(const RunCommand& command, const FinishedRun& run) {
    complain(run.notice);
    int exit_code = run.exit_code;
    if (command.events != "-" && worth_printing(run.result, command.format)) {
        exit_code = write_output(result_text(run.result, command.format), exit_code);
    }
    complain(remarks_text(run.result));
    if (!run.stored_as.empty()) complain("stored as " + run.stored_as);
    return exit_code;
}

}  // namespace

int execute(const RunCommand& command) {
    const auto subject = load_subject(command.subject);
    if (!subject) return refuse(subject.error());
    if (subject->workload.measurements.empty()) {
        for (const std::string& warning : subject->workload.warnings) complain("warning: " + warning);
        complain(command.subject.subject + ": nothing to replay: it holds no communication");
        return kExitBadInput;
    }
    if (const auto able = supported(subject->profile); !able) return fail(able.error());
    const auto record = recorder_options(command);
    if (!record) return fail(record.error());
    std::unique_ptr<cluster::Rendezvous> rendezvous;
    if (command.rendezvous) {
        auto met = meet(*command.rendezvous, command.node, subject->profile.cluster.nodes);
        if (!met) return fail(met.error());
        rendezvous = std::move(*met);
    }
    const StopSignals signals;  // until here there is nothing to drain: a signal simply ends the process
    const auto run = run_in_real_time({.subject = &*subject,
                                       .record = *record,
                                       .rendezvous = rendezvous.get(),
                                       .stop = &StopSignals::count(),
                                       .stop_timeout = command.stop_timeout,
                                       .show_progress = true});
    if (!run) {
        if (rendezvous) rendezvous->abandon(run.error().message);
        return fail(run.error());
    }
    return report(command, *run);
}

}  // namespace gradstorm::app
