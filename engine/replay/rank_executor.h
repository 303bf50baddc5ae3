// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/replay/call_executor.h"
#include "engine/replay/program.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gradstorm::replay {

/// When one rank began and ended what, in one segment of one job. Made before the segment; no time is ever written
/// beside it.
struct SegmentTimes {
    /// Of iterations, and of call c of iteration i at i * calls + c; kNotMine where the rank is not in the call's
    /// group.
    std::vector<Instant> iteration_begin;
    std::vector<Instant> iteration_end;
    std::vector<Instant> call_begin;
    std::vector<Instant> call_end;
    std::uint32_t completed_iterations = 0;
};

/// A wrong element, or rather the first of a range and how many there were.
struct WrongData {
    std::uint32_t call = 0;  ///< of the rank's program
    std::uint32_t iteration = 0;
    std::uint64_t offset = 0;  ///< bytes into the result
    memory::Mismatch mismatch;
};

/// What a rank did with the results of one segment.
struct CheckOutcome {
    std::vector<std::uint64_t> wrong_elements;  ///< by call of the rank's program
    std::uint32_t checked_iterations = 0;
    std::vector<WrongData> first;  ///< at most kKept
    static constexpr std::size_t kKept = 16;
};

/// Time in which at least one call of a rank is in progress, over all of its jobs.
class Activity {
public:
    void begin(Instant now) {
        if (calls_++ == 0) since_ = now;
    }
    void end(Instant now) {
        if (--calls_ == 0) total_ += now - since_;
    }
    void reset() { total_ = {}; }
    [[nodiscard]] Nanoseconds total() const { return total_; }

private:
    std::uint32_t calls_ = 0;
    Instant since_{};
    Nanoseconds total_{};
};

/// Runs before a result is checked: a place for tests to damage data. Not in measured runs.
using Tamper = std::function<void(std::uint32_t rank, std::uint32_t call, std::uint32_t iteration, std::uint64_t result,
                                  std::uint64_t length)>;

/// One rank in one job: iterations of calls in order, compute gaps, and the check of the results. Passive; belongs to
/// one worker between prepare() and finished().
class RankExecutor {
public:
    struct Setup {
        std::uint32_t rank = 0;  ///< of the run
        std::uint32_t job = 0;
        std::vector<SendConnection> sends;
        std::vector<ReceiveConnection> receives;
        std::vector<RankProgram> programs;  ///< by measurement
        PostingQueue* posting = nullptr;
        memory::ComputeEngine* compute = nullptr;
        std::uint64_t compute_id = 0;  ///< of its jobs: this + a number below 2^32
        std::uint32_t channels = 1;
        std::uint32_t window = 64;
        const memory::Pattern* poison = nullptr;
        Activity* activity = nullptr;
        Tamper tamper;
    };
    explicit RankExecutor(Setup setup);

    /// Between segments, while no worker steps: makes room for the results of `segment` and stands at its start.
    void prepare(const Segment& segment, measure::Histogram* latency);
    /// Costs next to nothing when nothing has happened since the last step: see wake().
    bool step(Instant now) {
        if (!awake_ && now < deadline()) return false;
        return step_awake(now);
    }
    /// Something arrived for this rank: the next step has to look.
    void wake() { awake_ = true; }
    /// When it has to be stepped though nothing arrived: the end of a compute gap.
    [[nodiscard]] Instant deadline() const { return phase_ == Phase::gap ? ready_at_ : kNoDeadline; }
    [[nodiscard]] bool finished() const { return phase_ == Phase::finished; }

    [[nodiscard]] CallExecutor& call() { return call_; }
    [[nodiscard]] const CallExecutor& call() const { return call_; }
    /// A compute job of ours has completed; `number` is its id less Setup::compute_id.
    void compute_completed(std::uint32_t number, const memory::Mismatch& mismatch);

    /// Read by the watchdog from another thread.
    [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t iteration() const { return iteration_seen_.load(std::memory_order_relaxed); }
    [[nodiscard]] Instant gap_until() const { return Instant{Nanoseconds{gap_until_.load(std::memory_order_relaxed)}}; }

    // While no worker steps.
    void report_waits(std::vector<WaitFor>& waits) const { call_.report_waits(setup_.rank, waits); }
    [[nodiscard]] const SegmentTimes& times() const { return times_; }
    [[nodiscard]] const CheckOutcome& checks() const { return checks_; }
    [[nodiscard]] const RankProgram& program() const { return setup_.programs[segment_.measurement]; }
    [[nodiscard]] std::uint32_t rank() const { return setup_.rank; }
    [[nodiscard]] std::uint32_t job() const { return setup_.job; }
    [[nodiscard]] const std::vector<SendConnection>& sends() const { return setup_.sends; }
    [[nodiscard]] const std::vector<ReceiveConnection>& receives() const { return setup_.receives; }

    static constexpr Instant kNotMine = Instant::min();

private:
    enum class Phase : std::uint8_t { start, poison, barrier, gap, call, verify, drain, finished };
    /// Compute jobs of the check carry numbers from here on; below are channels.
    static constexpr std::uint32_t kCheckNumber = 0x8000'0000U;

    bool step_awake(Instant now);
    bool step_phase(Instant now);
    void begin_iteration_or_drain(Instant now);
    void after_poison(Instant now);
    void begin_calls(Instant now);
    void schedule_call(Instant now);
    void launch_call(Instant now);
    void end_call(Instant now);
    void end_iteration(Instant now);
    [[nodiscard]] bool checked(std::uint32_t iteration) const;
    bool submit_checks(bool poison);
    void tamper_with_results();
    void publish();

    Setup setup_;
    CallExecutor call_;
    Segment segment_;
    RankProgram* program_ = nullptr;
    Phase phase_ = Phase::finished;
    bool awake_ = true;
    bool check_refused_ = false;  ///< by a full compute engine
    std::uint32_t iteration_ = 0;
    std::uint32_t call_index_ = 0;
    Instant ready_at_{};          ///< of the call that comes next
    Instant overlap_ready_at_{};  ///< where compute has got to in a job that overlaps
    SegmentTimes times_;
    CheckOutcome checks_;

    // The check or poisoning under way: which part of which call.
    std::uint32_t check_call_ = 0;
    std::uint32_t check_part_ = 0;
    bool check_open_ = false;        ///< the part is with the compute engine
    std::uint64_t checks_done_ = 0;  ///< parts, since the start of the run: progress

    std::atomic<std::uint64_t> progress_{0};
    std::atomic<std::int64_t> gap_until_{0};
    std::atomic<std::uint32_t> iteration_seen_{0};
};

}  // namespace gradstorm::replay
