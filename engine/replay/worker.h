// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/memory/compute_engine.h"
#include "engine/replay/posting_queue.h"
#include "engine/replay/rank_executor.h"
#include "engine/transport/endpoint.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradstorm::replay {

/// Why a worker gave up: a queue pair failed, or the other side broke the protocol of messages and credits.
struct WorkerFailure {
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;
    std::uint32_t channel = 0;
    transport::QueuePairIndex queue_pair = 0;
    transport::CompletionStatus status = transport::CompletionStatus::success;
    std::string what;  ///< filled for protocol errors; completions are put into words by the session
};

/// A worker's account of itself over the measured segments.
struct WorkerAccount {
    std::uint64_t steps = 0;
    std::uint64_t late_gaps = 0;  ///< more than kLateGap between two steps: time stolen or used up by one step
    Nanoseconds longest_gap{0};
    Nanoseconds late_time{0};  ///< sum of the late gaps
    Nanoseconds time{0};       ///< sum of all gaps
    Nanoseconds busy_time{0};  ///< in steps that did work; time stolen from them does not count
    static constexpr Nanoseconds kLateGap{100'000};
};

/// Everything of one core: an endpoint, a compute engine, and the ranks that live here. Passive: a driver calls step();
/// never blocks in one rank. Owns its executors; endpoint and compute engine must outlive it.
class Worker {
public:
    Worker(std::uint32_t id, transport::Endpoint& endpoint, memory::ComputeEngine& compute);

    /// Receives before sends, completions before executors, so that what arrived is answered in the same step.
    StepResult step(Instant now);

    // --- control, while no worker steps
    [[nodiscard]] PostingQueue& posting() { return posting_; }
    [[nodiscard]] memory::ComputeEngine& compute() { return *compute_; }
    [[nodiscard]] std::uint64_t next_compute_id() const { return std::uint64_t{executors_.size()} << 32U; }
    /// Takes the executor and routes the completions of its queue pairs to it.
    void add(std::unique_ptr<RankExecutor> executor);
    [[nodiscard]] const std::vector<std::unique_ptr<RankExecutor>>& executors() const { return executors_; }
    [[nodiscard]] transport::Endpoint& endpoint() const { return posting_.endpoint(); }
    /// Executors were prepared for a new segment.
    void begin_segment(bool measured);
    [[nodiscard]] const WorkerAccount& account() const { return account_; }
    [[nodiscard]] const std::vector<WorkerFailure>& failures() const { return failures_; }
    [[nodiscard]] std::uint32_t id() const { return id_; }

    // --- from any thread
    [[nodiscard]] bool finished() const { return finished_.load(std::memory_order_acquire); }
    [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
    /// Grows as long as anything useful arrives at any rank here.
    [[nodiscard]] std::uint64_t progress() const;
    /// The latest end of the compute gaps that run now.
    [[nodiscard]] Instant gap_until() const;

private:
    enum class Direction : std::uint8_t { none, send, receive };
    struct Route {
        RankExecutor* executor = nullptr;
        std::uint32_t connection = 0;
        Direction direction = Direction::none;
    };
    static constexpr std::size_t kBatch = 64;
    static constexpr std::size_t kKeptFailures = 64;

    void account_for(Instant now, bool worked);
    bool poll_completions(Instant now);
    void dispatch(const transport::Completion& completion, Instant now);
    void dispatch_to_sender(const Route& route, const transport::Completion& completion, Instant now);
    void dispatch_to_receiver(const Route& route, const transport::Completion& completion, Instant now);
    bool poll_compute();
    void fail(const Route& route, const transport::Completion& completion, std::string what);
    [[nodiscard]] std::uint64_t received_bytes() const;

    std::uint32_t id_;
    PostingQueue posting_;
    memory::ComputeEngine* compute_;
    std::vector<std::unique_ptr<RankExecutor>> executors_;
    std::vector<Route> routes_;  ///< by queue pair
    WorkerAccount account_;
    std::optional<Instant> last_step_;
    bool last_step_worked_ = false;
    bool measured_ = false;
    std::vector<WorkerFailure> failures_;
    std::atomic<bool> finished_{true};
    std::atomic<bool> failed_{false};

    /// Long messages make progress without completing anything: bytes are read from the endpoint now and then.
    static constexpr Nanoseconds kBytesInterval{50'000'000};
    Instant next_bytes_at_{};
    std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace gradstorm::replay
