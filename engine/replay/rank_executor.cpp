// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/rank_executor.h"

#include <algorithm>
#include <utility>

namespace gradstorm::replay {

RankExecutor::RankExecutor(Setup setup)
    : setup_(std::move(setup)),
      call_({.sends = setup_.sends,
             .receives = setup_.receives,
             .posting = setup_.posting,
             .compute = setup_.compute,
             .compute_id = setup_.compute_id,
             .channels = setup_.channels,
             .window = setup_.window}) {}

void RankExecutor::prepare(const Segment& segment, measure::Histogram* latency) {
    segment_ = segment;
    program_ = &setup_.programs[segment.measurement];
    const std::size_t iterations = segment.iterations;
    times_.iteration_begin.assign(iterations, kNotMine);
    times_.iteration_end.assign(iterations, kNotMine);
    times_.call_begin.assign(iterations * program_->calls.size(), kNotMine);
    times_.call_end.assign(iterations * program_->calls.size(), kNotMine);
    times_.completed_iterations = 0;
    checks_.wrong_elements.assign(program_->calls.size(), 0);
    checks_.checked_iterations = 0;
    checks_.first.clear();
    checks_.first.reserve(CheckOutcome::kKept);
    call_.record_latency(latency);
    iteration_ = 0;
    phase_ = Phase::start;
    awake_ = true;
}

bool RankExecutor::step_awake(Instant now) {
    bool moved = false;
    check_refused_ = false;
    while (step_phase(now)) moved = true;
    awake_ = call_.starved() || check_refused_;
    publish();
    return moved;
}

/// Whether the phase has moved on; it is stepped again until it has not.
bool RankExecutor::step_phase(Instant now) {
    switch (phase_) {
        case Phase::start: begin_iteration_or_drain(now); return true;
        case Phase::poison:
            if (!submit_checks(true)) return false;
            after_poison(now);
            return true;
        case Phase::barrier:
            if (!call_.done()) return call_.advance(now);
            begin_calls(now);
            return true;
        case Phase::gap:
            if (now < ready_at_) return false;
            launch_call(now);
            return true;
        case Phase::call:
            if (!call_.done()) return call_.advance(now);
            end_call(now);
            return true;
        case Phase::verify:
            if (!submit_checks(false)) return false;
            ++checks_.checked_iterations;
            ++iteration_;
            phase_ = Phase::start;
            return true;
        case Phase::drain:
            if (!call_.quiet()) return call_.send_credits();
            phase_ = Phase::finished;
            return true;
        case Phase::finished: break;
    }
    return false;
}

void RankExecutor::publish() {
    progress_.store(call_.progress() + checks_done_, std::memory_order_relaxed);
    iteration_seen_.store(iteration_, std::memory_order_relaxed);
    const Instant until = phase_ == Phase::gap ? ready_at_ : Instant{};
    gap_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
}

bool RankExecutor::checked(std::uint32_t iteration) const {
    switch (segment_.checking) {
        case Checking::none: return false;
        case Checking::last: return iteration + 1 == segment_.iterations;
        case Checking::all: return true;
    }
    return false;
}

void RankExecutor::begin_iteration_or_drain(Instant now) {
    if (iteration_ == segment_.iterations) {
        phase_ = Phase::drain;
        return;
    }
    check_call_ = 0;
    check_part_ = 0;
    if (checked(iteration_)) {
        phase_ = Phase::poison;
    } else {
        begin_calls(now);
    }
}

void RankExecutor::after_poison(Instant now) {
    if (program_->barrier == nullptr) return begin_calls(now);
    call_.launch(*program_->barrier);
    phase_ = Phase::barrier;
}

void RankExecutor::begin_calls(Instant now) {
    times_.iteration_begin[iteration_] = now;
    overlap_ready_at_ = now;
    call_index_ = 0;
    schedule_call(now);
}

/// `now` is the end of the call before, or the start of the iteration. The gap is a deadline: a call whose time has
/// passed starts at once, so what was late is caught up where the job overlaps.
void RankExecutor::schedule_call(Instant now) {
    if (call_index_ == program_->calls.size()) return end_iteration(now);
    const Nanoseconds gap = program_->calls[call_index_].gap;
    overlap_ready_at_ += gap;
    ready_at_ = program_->overlap ? overlap_ready_at_ : now + gap;
    phase_ = Phase::gap;
}

void RankExecutor::launch_call(Instant now) {
    times_.call_begin[iteration_ * program_->calls.size() + call_index_] = now;
    setup_.activity->begin(now);
    call_.launch(program_->calls[call_index_]);
    phase_ = Phase::call;
}

void RankExecutor::end_call(Instant now) {
    setup_.activity->end(now);
    times_.call_end[iteration_ * program_->calls.size() + call_index_] = now;
    ++call_index_;
    schedule_call(now);
}

void RankExecutor::end_iteration(Instant now) {
    times_.iteration_end[iteration_] = now;
    times_.completed_iterations = iteration_ + 1;
    if (!checked(iteration_)) {
        ++iteration_;
        phase_ = Phase::start;
        return;
    }
    if (setup_.tamper) tamper_with_results();
    check_call_ = 0;
    check_part_ = 0;
    phase_ = Phase::verify;
}

void RankExecutor::tamper_with_results() {
    for (const RankCall& call : program_->calls) {
        setup_.tamper(setup_.rank, call.index, iteration_, call.own.result, call.result_length);
    }
}

/// Poisons or checks the results of all calls, a job at a time: results are large, so one job keeps the engine busy.
/// True when all is done.
bool RankExecutor::submit_checks(bool poison) {
    if (check_open_) return false;
    while (check_call_ < program_->calls.size()) {
        const RankCall& call = program_->calls[check_call_];
        const std::size_t parts = poison ? 1 : call.expectations.size();
        if (check_part_ >= parts) {
            ++check_call_;
            check_part_ = 0;
            continue;
        }
        memory::ComputeJob job{.id = setup_.compute_id + kCheckNumber, .type = call.schedule->call().type};
        if (poison) {
            job.kind = memory::ComputeKind::fill;
            job.to = call.own.result;
            job.length = call.result_length;
            job.pattern = setup_.poison;
        } else {
            const Expectation& part = call.expectations[check_part_];
            job.kind = memory::ComputeKind::verify;
            job.a = part.address;
            job.length = part.length;
            job.pattern = part.pattern;
            job.phase = part.phase;
        }
        if (!setup_.compute->submit(job)) {
            check_refused_ = true;
            return false;
        }
        check_open_ = true;
        return false;
    }
    return true;
}

void RankExecutor::compute_completed(std::uint32_t number, const memory::Mismatch& mismatch) {
    if (number < kCheckNumber) return call_.local_completed(number);
    check_open_ = false;
    ++checks_done_;
    if (mismatch.wrong_elements != 0) {
        const Expectation& part = program_->calls[check_call_].expectations[check_part_];
        checks_.wrong_elements[check_call_] += mismatch.wrong_elements;
        if (checks_.first.size() < CheckOutcome::kKept) {
            checks_.first.push_back({check_call_, iteration_, part.offset + mismatch.first_offset, mismatch});
        }
    }
    ++check_part_;
}

}  // namespace gradstorm::replay
