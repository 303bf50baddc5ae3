// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/progress.h"
#include "engine/app/run_recorder.h"
#include "engine/plan/plan.h"
#include "engine/replay/session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradstorm::app {

/// Turns what a session reports into records, adds the plan's ideal times, and keeps the progress display going.
class RecordingObserver final : public replay::SessionObserver {
public:
    /// `on_look` is called whenever the session looks after the run: between two of its calls little time passes. May
    /// be empty.
    RecordingObserver(RunRecorder& recorder, const plan::Plan& plan, ProgressDisplay& progress,
                      std::function<void()> on_look);

    void measurement_started(Instant time, std::uint32_t index, const measure::MeasurementResult& result) override;
    void segment_started(Instant time, const replay::Segment& segment) override;
    void segment_finished(Instant time, const replay::Segment& segment, const measure::MeasurementResult& so_far,
                          const measure::Histogram& latency) override;
    void counters(Instant time, const std::vector<measure::PortResult>& ports) override;
    void event(const measure::RunEvent& event) override;
    void progress(Instant time, const replay::Segment& segment, double share) override;

private:
    void record_checks(Instant time, std::uint32_t measurement, const measure::MeasurementResult& so_far);

    RunRecorder* recorder_;
    const plan::Plan* plan_;
    ProgressDisplay* display_;
    std::function<void()> on_look_;
    std::vector<std::uint64_t> recorded_wrong_;  ///< by call of the measurement under way
};

/// The calls of a measurement with the ideal times of its plan.
void add_ideal_times(measure::MeasurementResult& result, const plan::MeasurementPlan& plan);

}  // namespace gradstorm::app
