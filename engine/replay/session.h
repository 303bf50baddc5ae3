// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/cluster/rendezvous.h"
#include "engine/measure/run_result.h"
#include "engine/replay/driver.h"
#include "engine/replay/rank_executor.h"
#include "engine/replay/wait_report.h"
#include "engine/transport/endpoint.h"
#include "engine/workload/workload.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradstorm::replay {

enum class Payload : std::uint8_t {
    synthetic,  ///< memory regions are address ranges that nobody touches
    memory,     ///< real buffers, real sums, checked results
};

/// Where a rank of the run lives. `worker` and `hca` count within the node's process: which of its endpoints, and which
/// HCA address of that endpoint.
struct RankPlace {
    std::uint32_t node = 0;
    std::uint32_t worker = 0;
    std::uint32_t hca = 0;
};

struct SessionOptions {
    std::vector<RankPlace> ranks;  ///< of every rank of the run, on all nodes
    Payload payload = Payload::synthetic;
    Checking checking = Checking::all;  ///< of memory payload
    std::uint64_t seed = 1;
    std::uint32_t repetitions = 5;
    std::uint32_t warmup = 5;       ///< iterations
    std::uint32_t iterations = 50;  ///< of each repetition
    std::uint32_t slots = 8;        ///< landing slots of a connection
    /// What every queue pair is made with; hca, initial_psn and udp_source_port are set for each (from the seed).
    transport::QueuePairAttributes queue_pair{};
    Nanoseconds stall_timeout{std::chrono::seconds{5}};
    Nanoseconds stop_timeout{std::chrono::seconds{10}};   ///< a drain that takes longer becomes an abort
    Nanoseconds setup_timeout{std::chrono::seconds{30}};  ///< of each exchange between processes
    /// Stop signals so far: 1 drains (the repetition under way is finished), 2 aborts. May be null.
    const std::atomic<int>* stop = nullptr;
    WorkRequestTap* tap = nullptr;  ///< for traces; may be null
    Tamper tamper{};                ///< for tests
};

/// Hears of things as they become known. From the control thread, never from a worker.
class SessionObserver {
public:
    virtual ~SessionObserver() = default;
    /// Labels, kinds, sizes of the calls; nothing measured.
    virtual void measurement_started(Instant, std::uint32_t /*index*/, const measure::MeasurementResult&) {}
    virtual void segment_started(Instant, const Segment&) {}
    /// The result so far, the segment's times at its end; after an abort with the iterations that every rank of this
    /// process completed. `latency` is of this segment.
    virtual void segment_finished(Instant, const Segment&, const measure::MeasurementResult& /*so_far*/,
                                  const measure::Histogram& /*latency*/) {}
    /// Totals so far over the measured segments.
    virtual void counters(Instant, const std::vector<measure::PortResult>&) {}
    virtual void event(const measure::RunEvent&) {}
    /// Now and then during a segment: share of the run's iterations begun, 0..1.
    virtual void progress(Instant, const Segment&, double /*share*/) {}
};

/// What a session found out; the parts of a measure::RunResult that it knows.
struct SessionReport {
    measure::Outcome outcome = measure::Outcome::error;  ///< pass, fail (wrong data), interrupted or error
    std::optional<Error> error;                          ///< of outcome error
    std::string reason;                                  ///< one line; empty when all went well
    std::vector<measure::MeasurementResult> measurements;
    std::vector<measure::PortResult> ports;
    std::vector<measure::RankResult> ranks;
    measure::SelfCheck self_check;
    std::vector<measure::RunEvent> events;
    std::vector<WaitFor> waits;            ///< of a stall or failure
    std::optional<std::uint32_t> culprit;  ///< the rank that the others wait for in the end
};

/// One process's part of a run: binds ranks to endpoints, connects queue pairs, lets the workers replay the workload
/// and collects what was measured. Every wait has a deadline.
///
/// Use: create(), then run() once, both from the control thread. Workload, endpoints (one a worker), rendezvous, driver
/// and observer must outlive it; the driver belongs to this session alone.
class Session {
public:
    struct Surroundings {
        const workload::Workload* workload = nullptr;
        std::vector<transport::Endpoint*> endpoints;  ///< of this process's workers
        cluster::Rendezvous* rendezvous = nullptr;
        Driver* driver = nullptr;
        SessionObserver* observer = nullptr;
    };

    /// Prepares everything: schedules, buffers, queue pairs, connections, segments. Errors: invalid_input,
    /// unsupported (a sum of a type that the host cannot add), device (memory, queue pairs), peer, timeout.
    [[nodiscard]] static Result<std::unique_ptr<Session>> create(const SessionOptions& options,
                                                                 const Surroundings& surroundings);
    ~Session();

    struct State;  ///< what it holds; defined beside its implementation

    /// Runs all segments. Never fails as a call: what went wrong is in the report, with all that was measured before.
    [[nodiscard]] SessionReport run();

private:
    explicit Session(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gradstorm::replay
