// SPDX-License-Identifier: Apache-2.0
#include "engine/app/virtual_run.h"

#include "engine/app/faults.h"
#include "engine/app/recording_observer.h"
#include "engine/replay/virtual_run.h"

#include <fmt/format.h>

namespace gradstorm::app {

namespace {

/// What a virtual port does where the profile names no line rate.
constexpr BitsPerSecond kLineRate{100e9};

replay::VirtualRunOptions virtual_options(const profiles::Profile& profile, std::uint32_t ranks) {
    replay::VirtualRunOptions options;
    options.session = session_options(profile);
    options.workers = profile.transport.workers > 0 ? std::min(profile.transport.workers, ranks) : 1;
    options.line_rate = profile.transport.line_rate.value > 0 ? profile.transport.line_rate : kLineRate;
    for (const profiles::FaultSettings& fault : profile.faults) {
        if (fault.all_ports) {
            options.impair_all = impairment_of(fault);
        } else {
            options.impair.push_back({fault.port, impairment_of(fault)});
        }
    }
    return options;
}

}  // namespace

Result<FinishedRun> run_in_virtual_time(const Subject& subject, const RecorderOptions& record) {
    const replay::VirtualRunOptions options = virtual_options(subject.profile, subject.plan.ranks);
    measure::RunResult announced = announced_run(subject, true);
    announced.engine = "software HCAs, heap fabric, virtual time";
    announced.line_rate_bits_per_s = options.line_rate.value;
    announced.disclosures = {
        fmt::format("virtual time: no clock was read; ports of {:g} Gb/s, {} ns of latency and no jitter are modelled",
                    gigabits(options.line_rate), options.latency.count()),
        "computing takes no time here: only declared gaps do"};
    auto recorder = RunRecorder::begin(record, announced);
    if (!recorder) return tl::unexpected(recorder.error());
    record_warnings(**recorder, subject, true, Instant{});
    ProgressDisplay progress(false);
    RecordingObserver observer(**recorder, subject.plan, progress, {});
    auto run = replay::VirtualRun::create(subject.workload, options, &observer);
    if (!run) return tl::unexpected(run.error());
    const replay::SessionReport report = (*run)->run();
    record_report(**recorder, report, true, (*run)->now());
    const measure::RunResult& result = (*recorder)->result();
    return FinishedRun{.result = result,
                       .exit_code = measure::exit_code(result.outcome),
                       .stored_as = (*recorder)->stored_as(),
                       .notice = (*recorder)->notice()};
}

}  // namespace gradstorm::app
