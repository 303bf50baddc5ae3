// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/session_state.h"

#include <map>
#include <vector>

namespace gradstorm::replay {

/// Turns what executors, endpoints and workers recorded into a SessionReport. Works while no worker steps.
class ResultCollector {
public:
    explicit ResultCollector(Session::State& state) : state_(&state) {}

    void begin_measurement(std::uint32_t measurement);
    void begin_segment(const Segment& segment);
    /// Adds the segment's times, checks and counters; with partial = true those iterations that every rank completed.
    void end_segment(const Segment& segment, bool partial, Instant now);
    void finish();
    void check_generator();

    [[nodiscard]] const measure::Histogram& segment_latency() const { return latency_; }
    [[nodiscard]] std::uint64_t wrong_elements() const { return wrong_; }

private:
    struct Lateness {
        std::int64_t sum = 0;
        std::int64_t max = 0;
        std::int64_t count = 0;
    };
    void collect_times(measure::MeasurementResult& result, std::uint32_t iterations);
    void collect_lateness(std::uint32_t iterations);
    void collect_checks(measure::MeasurementResult& result, const Segment& segment, Instant now);
    void collect_counters();
    [[nodiscard]] std::vector<const RankExecutor*> executors() const;
    [[nodiscard]] std::vector<measure::PortResult> ports() const;

    Session::State* state_;
    measure::Histogram latency_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, transport::HcaCounters> before_;  ///< by worker, HCA
    std::map<std::pair<std::uint32_t, std::uint32_t>, transport::HcaCounters> total_;
    std::map<std::uint32_t, Nanoseconds> communicating_;  ///< by rank
    std::map<std::uint32_t, Lateness> lateness_;          ///< by rank
    std::uint64_t wrong_ = 0;
};

}  // namespace gradstorm::replay
