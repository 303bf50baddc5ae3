// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/session_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradstorm::replay {

namespace {

/// More of its time spent in late gaps than this, and a worker, not the network, may have set the pace.
constexpr double kMostLateShare = 0.1;
constexpr double kMostBusyShare = 0.98;  // beyond it a worker never waited for the network

std::int64_t nanoseconds(Instant begin, Instant end) { return (end - begin).count(); }

}  // namespace

std::vector<const RankExecutor*> ResultCollector::executors() const {
    std::vector<const RankExecutor*> all;
    for (const auto& worker : state_->workers) {
        for (const auto& executor : worker->executors()) {
            if (!executor->program().calls.empty()) all.push_back(executor.get());
        }
    }
    return all;
}

void ResultCollector::begin_measurement(std::uint32_t measurement) {
    const workload::Measurement& planned = state_->workload().measurements[measurement];
    measure::MeasurementResult& result = state_->report.measurements.emplace_back();
    result.label = planned.label;
    for (std::size_t job = 0; job < planned.jobs.size(); ++job) {
        for (std::size_t c = 0; c < planned.jobs[job].calls.size(); ++c) {
            const workload::PlannedCall& call = planned.jobs[job].calls[c];
            measure::CallResult& row = result.calls.emplace_back();
            row.label = call.label;
            row.kind = call.call.kind;
            row.type = call.call.type;
            row.algorithm = state_->schedules[measurement][job].calls[c]->algorithm();
            row.ranks = call.call.ranks;
            row.root = call.call.root;
            row.bytes = call.call.bytes.value;
        }
    }
}

void ResultCollector::begin_segment(const Segment& segment) {
    latency_ = {};
    if (!segment.measured) return;
    for (const auto& [rank, arena] : state_->arenas) {
        const RankPlace& place = state_->options.ranks[rank];
        before_[{place.worker, place.hca}] = state_->around.endpoints[place.worker]->counters(place.hca);
        state_->activities.at(rank)->reset();
    }
}

void ResultCollector::end_segment(const Segment& segment, bool partial, Instant now) {
    measure::MeasurementResult& result = state_->report.measurements[segment.measurement];
    collect_checks(result, segment, now);
    if (!segment.measured) return;
    std::uint32_t iterations = segment.iterations;
    if (partial) {
        for (const RankExecutor* executor : executors()) {
            iterations = std::min(iterations, executor->times().completed_iterations);
        }
    }
    collect_times(result, iterations);
    collect_lateness(iterations);
    collect_counters();
    for (const auto& histogram : state_->latency) {
        latency_.merge(*histogram);
        *histogram = {};
    }
    result.message_latency.merge(latency_);
    state_->report.ports = ports();
}

/// A call that none of this process's ranks takes part in keeps an empty repetition: its time is another's to tell.
void ResultCollector::collect_times(measure::MeasurementResult& result, std::uint32_t iterations) {
    std::vector<std::int64_t> whole;
    std::vector<std::vector<std::int64_t>> calls(result.calls.size());
    for (const RankExecutor* executor : executors()) {
        const SegmentTimes& times = executor->times();
        const std::vector<RankCall>& program = executor->program().calls;
        whole.resize(iterations);
        for (const RankCall& call : program) calls[call.index].resize(iterations);
        for (std::uint32_t i = 0; i < iterations; ++i) {
            whole[i] = std::max(whole[i], nanoseconds(times.iteration_begin[i], times.iteration_end[i]));
            for (std::size_t c = 0; c < program.size(); ++c) {
                const std::size_t at = i * program.size() + c;
                std::int64_t& slowest = calls[program[c].index][i];
                slowest = std::max(slowest, nanoseconds(times.call_begin[at], times.call_end[at]));
            }
        }
    }
    result.iteration_ns.push_back(std::move(whole));
    for (std::size_t c = 0; c < calls.size(); ++c) result.calls[c].completion_ns.push_back(std::move(calls[c]));
}

void ResultCollector::collect_lateness(std::uint32_t iterations) {
    std::map<std::uint32_t, std::vector<const RankExecutor*>> by_job;
    for (const RankExecutor* executor : executors()) by_job[executor->job()].push_back(executor);
    for (const auto& [job, ranks] : by_job) {
        if (ranks.size() < 2) continue;
        for (std::uint32_t i = 0; i < iterations; ++i) {
            Instant first = Instant::max();
            for (const RankExecutor* rank : ranks) first = std::min(first, rank->times().iteration_end[i]);
            for (const RankExecutor* rank : ranks) {
                Lateness& lateness = lateness_[rank->rank()];
                const std::int64_t late = nanoseconds(first, rank->times().iteration_end[i]);
                lateness.sum += late;
                lateness.max = std::max(lateness.max, late);
                ++lateness.count;
            }
        }
    }
}

void ResultCollector::collect_checks(measure::MeasurementResult& result, const Segment& segment, Instant now) {
    if (segment.checking == Checking::none) return;
    for (const RankExecutor* executor : executors()) {
        const CheckOutcome& checks = executor->checks();
        const std::vector<RankCall>& program = executor->program().calls;
        for (std::size_t c = 0; c < program.size() && checks.checked_iterations != 0; ++c) {
            measure::CallResult& row = result.calls[program[c].index];
            row.wrong_elements = row.wrong_elements.value_or(0) + checks.wrong_elements[c];
            wrong_ += checks.wrong_elements[c];
        }
        for (const WrongData& wrong : checks.first) {
            const measure::DataType type = program[wrong.call].schedule->call().type;
            state_->report.events.push_back(
                {now.time_since_epoch().count(), "fault",
                 fmt::format("wrong data: rank {}, {}, {}iteration {}: {} elements, the first at byte {}: expected {}, "
                             "got {}",
                             executor->rank(), program[wrong.call].label,
                             segment.measured ? fmt::format("repetition {}, ", segment.repetition) : "warm-up, ",
                             wrong.iteration, wrong.mismatch.wrong_elements, wrong.offset,
                             memory::as_number(type, wrong.mismatch.expected),
                             memory::as_number(type, wrong.mismatch.got))});
            if (state_->around.observer != nullptr) state_->around.observer->event(state_->report.events.back());
        }
    }
}

void ResultCollector::collect_counters() {
    for (const auto& [key, before] : before_) {
        total_[key] += state_->around.endpoints[key.first]->counters(key.second) - before;
    }
    for (const auto& [rank, activity] : state_->activities) communicating_[rank] += activity->total();
}

std::vector<measure::PortResult> ResultCollector::ports() const {
    std::vector<measure::PortResult> ports;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> seen;  // an HCA of several ranks is one port
    for (const auto& [rank, arena] : state_->arenas) {
        const RankPlace& place = state_->options.ranks[rank];
        const auto total = total_.find({place.worker, place.hca});
        if (total == total_.end() || seen[total->first]) continue;
        seen[total->first] = true;
        const transport::HcaCounters& c = total->second;
        const auto name = state_->port_names.find(rank);
        ports.push_back({.name = name == state_->port_names.end() ? fmt::format("rank {}", rank) : name->second,
                         .rank = rank,
                         .data_frames = c.tx_data_frames,
                         .clear_to_send_frames = c.tx_clear_to_send_frames,
                         .ack_frames = c.tx_ack_frames,
                         .retransmitted_frames = c.tx_retransmitted_frames,
                         .cnp_frames = c.tx_cnp_frames,
                         .wire_bytes = c.tx_wire_bytes,
                         .payload_bytes = c.tx_payload_bytes,
                         .rx_wire_bytes = c.rx_wire_bytes,
                         .rx_payload_bytes = c.rx_payload_bytes,
                         .ecn_marked_frames = c.rx_ecn_marked_frames,
                         .icrc_errors = c.rx_icrc_errors,
                         .out_of_order_frames = c.rx_out_of_order_frames,
                         .duplicate_frames = c.rx_duplicate_frames,
                         .timeouts = c.timeouts,
                         .communicating_ns = communicating_.at(rank).count()});
    }
    return ports;
}

void ResultCollector::finish() {
    SessionReport& report = state_->report;
    for (const auto& [rank, arena] : state_->arenas) {
        measure::RankResult& row = report.ranks.emplace_back();
        row.rank = rank;
        row.worker = state_->options.ranks[rank].worker;
        const auto lateness = lateness_.find(rank);
        if (lateness == lateness_.end() || lateness->second.count == 0) continue;
        row.mean_lateness_ns = lateness->second.sum / lateness->second.count;
        row.max_lateness_ns = lateness->second.max;
    }
    check_generator();
}

/// Time jumps where it is virtual: there the steps of a worker say nothing.
void ResultCollector::check_generator() {
    measure::SelfCheck& check = state_->report.self_check;
    check.clock = state_->around.driver->clock_description();
    if (check.clock == "virtual") {
        check.verdict = "not measured: time is virtual";
        return;
    }
    check.verdict = "ok";
    check.clock_residual_ppm = state_->around.driver->clock_residual_ppm();
    for (const auto& worker : state_->workers) {
        const WorkerAccount& account = worker->account();
        if (account.time <= Nanoseconds{0}) continue;
        const auto share = [&](Nanoseconds part) {
            return static_cast<double>(part.count()) / static_cast<double>(account.time.count());
        };
        const double busy = share(account.busy_time);
        const double late = share(account.late_time);
        check.busy_share = std::max(check.busy_share, std::optional{busy});
        check.late_steps = check.late_steps.value_or(0) + account.late_gaps;
        check.longest_gap_ns = std::max(check.longest_gap_ns, std::optional{std::int64_t{account.longest_gap.count()}});
        if (late > kMostLateShare) {
            check.verdict = fmt::format(
                "worker {} was kept from running for {:.0f} % of the measured time: give it a "
                "core of its own, or use fewer workers",
                worker->id(), late * 100);
        } else if (busy > kMostBusyShare && check.verdict == "ok") {
            check.verdict = fmt::format(
                "worker {} had work in {:.1f} % of the measured time: spread its ranks over more workers and ports",
                worker->id(), busy * 100);
        }
    }
}

}  // namespace gradstorm::replay
