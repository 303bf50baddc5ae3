// SPDX-License-Identifier: Apache-2.0
#include "engine/app/recording_observer.h"

#include <fmt/format.h>

namespace gradstorm::app {

void add_ideal_times(measure::MeasurementResult& result, const plan::MeasurementPlan& plan) {
    for (std::size_t i = 0; i < result.calls.size() && i < plan.calls.size(); ++i) {
        if (!plan.calls[i].ideal) continue;
        result.calls[i].ideal_ns = plan.calls[i].ideal->total().count();
        result.calls[i].ideal_bound = plan.calls[i].ideal->bound;
    }
}

RecordingObserver::RecordingObserver(RunRecorder& recorder, const plan::Plan& plan, ProgressDisplay& progress,
                                     std::function<void()> on_look)
    : recorder_(&recorder), plan_(&plan), display_(&progress), on_look_(std::move(on_look)) {}

void RecordingObserver::measurement_started(Instant time, std::uint32_t index,
                                            const measure::MeasurementResult& result) {
    measure::MeasurementResult announced = result;
    add_ideal_times(announced, plan_->measurements[index]);
    recorded_wrong_.assign(result.calls.size(), 0);
    recorder_->record(events::measurement_started(time, index, announced));
}

void RecordingObserver::segment_started(Instant time, const replay::Segment& segment) {
    if (segment.measured) recorder_->record(events::repetition_started(time, segment.measurement, segment.repetition));
}

void RecordingObserver::segment_finished(Instant time, const replay::Segment& segment,
                                         const measure::MeasurementResult& so_far, const measure::Histogram& latency) {
    record_checks(time, segment.measurement, so_far);
    if (!segment.measured) return;
    for (std::uint32_t call = 0; call < so_far.calls.size(); ++call) {
        const auto& repetitions = so_far.calls[call].completion_ns;
        if (repetitions.size() <= segment.repetition) continue;
        recorder_->record(
            events::completion_times(segment.measurement, call, segment.repetition, repetitions[segment.repetition]));
    }
    if (so_far.iteration_ns.size() > segment.repetition) {
        recorder_->record(
            events::iteration_times(segment.measurement, segment.repetition, so_far.iteration_ns[segment.repetition]));
    }
    recorder_->record(events::message_latency(segment.measurement, latency));
    recorder_->record(events::repetition_finished(time, segment.measurement, segment.repetition));
    recorder_->checkpoint();
}

/// The session's counts are totals of the measurement; records of the same call add up.
void RecordingObserver::record_checks(Instant time, std::uint32_t measurement,
                                      const measure::MeasurementResult& so_far) {
    for (std::uint32_t call = 0; call < so_far.calls.size(); ++call) {
        const std::optional<std::uint64_t>& wrong = so_far.calls[call].wrong_elements;
        if (!wrong) continue;
        recorder_->record(events::check_result(time, measurement, call, *wrong - recorded_wrong_[call]));
        recorded_wrong_[call] = *wrong;
    }
}

void RecordingObserver::counters(Instant time, const std::vector<measure::PortResult>& ports) {
    recorder_->record(events::counters(time, ports));
}

void RecordingObserver::event(const measure::RunEvent& event) {
    recorder_->record(events::message(Instant{Nanoseconds{event.time_ns}}, event.kind, event.text));
}

void RecordingObserver::progress(Instant /*time*/, const replay::Segment& segment, double share) {
    if (on_look_) on_look_();
    const std::string part =
        segment.measured ? fmt::format("repetition {}", segment.repetition + 1) : std::string{"warm-up"};
    display_->update(share, fmt::format("{}, {}", plan_->measurements[segment.measurement].label, part));
}

}  // namespace gradstorm::app
