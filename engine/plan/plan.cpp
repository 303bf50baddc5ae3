// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.h"

#include "engine/wire/line_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradstorm::plan {

namespace {

using collective::RankClass;
using measure::CollectiveKind;

wire::FrameShape shape_of(const Assumptions& assumptions) {
    return {.ipv4 = !assumptions.ipv6, .vlan = assumptions.vlan};
}

std::uint64_t busiest_direction(const collective::Totals& totals) {
    return std::max(totals.bytes_sent.value, totals.bytes_received.value);
}

/// Steps whose latencies add up. Pieces of a pipelined broadcast follow each other without waiting, so that only its
/// hops count.
std::uint64_t latency_steps(const collective::Call& call, const collective::Totals& totals) {
    return call.kind == CollectiveKind::broadcast && totals.steps > 0 ? call.ranks - 1 : totals.steps;
}

std::string rate_text(const Assumptions& assumptions) {
    return fmt::format("{:g} Gb/s x {:.2f} % goodput at path MTU {} over {}{}", gigabits(*assumptions.line_rate),
                       wire::goodput_fraction(assumptions.path_mtu, shape_of(assumptions)) * 100, assumptions.path_mtu,
                       assumptions.ipv6 ? "IPv6" : "IPv4", assumptions.vlan ? " with VLAN" : "");
}

std::string bound_of(const IdealTime& ideal, std::uint64_t bytes, std::uint64_t steps, const Assumptions& assumptions) {
    const double latency_us = static_cast<double>(assumptions.step_latency.count()) / 1e3;
    if (!assumptions.line_rate) return "line rate unknown";
    if (ideal.beta >= ideal.alpha) return fmt::format("bandwidth: {} B at {}", bytes, rate_text(assumptions));
    return fmt::format("latency: {} steps of {:g} us", steps, latency_us);
}

/// Line bytes of the data frames that a rank sends: payload with all headers, FCS, preamble and gap.
Bytes wire_bytes(const std::vector<collective::MessageCount>& messages, const Assumptions& assumptions) {
    Bytes total;
    for (const collective::MessageCount& message : messages) {
        const wire::Footprint one = wire::message_footprint(wire::MessageKind::write_with_immediate, message.length,
                                                            assumptions.path_mtu, shape_of(assumptions));
        total += Bytes{one.line_bytes * message.count};
    }
    return total;
}

const RankClass& busiest(const std::vector<RankClass>& classes) {
    return *std::max_element(classes.begin(), classes.end(), [](const RankClass& a, const RankClass& b) {
        return a.totals.bytes_sent < b.totals.bytes_sent;
    });
}

CallPlan plan_call(const workload::PlannedCall& planned, const collective::Schedule& schedule,
                   const std::vector<RankClass>& classes, const Assumptions& assumptions) {
    CallPlan plan;
    plan.label = planned.label;
    plan.algorithm = schedule.algorithm();
    plan.call = planned.call;
    const RankClass& most = busiest(classes);
    plan.largest = most.totals;
    for (const RankClass& same : classes) plan.total_sent += Bytes{same.totals.bytes_sent.value * same.count};
    plan.wire_bytes_per_rank = wire_bytes(schedule.messages(most.first), assumptions);
    if (assumptions.line_rate) plan.ideal = ideal_time(schedule, assumptions);
    return plan;
}

/// Adds what each rank of the run sends in the call.
void add_sent(const workload::PlannedCall& planned, const std::vector<RankClass>& classes,
              std::vector<std::uint64_t>& sent_by_rank) {
    for (const RankClass& same : classes) {
        for (std::uint32_t i = 0; i < same.count; ++i) {
            sent_by_rank.at(planned.group.at(same.first + i)) += same.totals.bytes_sent.value;
        }
    }
}

Result<MeasurementPlan> plan_measurement(const workload::Measurement& measurement, std::uint32_t ranks,
                                         const Assumptions& assumptions) {
    MeasurementPlan plan;
    plan.label = measurement.label;
    std::vector<std::uint64_t> sent_by_rank(ranks);
    for (const workload::JobIteration& job : measurement.jobs) {
        Nanoseconds compute{0};
        for (const workload::PlannedCall& planned : job.calls) {
            auto schedule = collective::make_schedule(planned.call);
            if (!schedule) {
                return failure(schedule.error().code, fmt::format("{}: {}", planned.label, schedule.error().message));
            }
            const std::vector<RankClass> classes = collective::rank_classes(**schedule);
            plan.calls.push_back(plan_call(planned, **schedule, classes, assumptions));
            add_sent(planned, classes, sent_by_rank);
            compute += planned.gap;
        }
        plan.declared_compute = std::max(plan.declared_compute, compute);
    }
    if (ranks > 0) plan.sent_per_rank = Bytes{*std::max_element(sent_by_rank.begin(), sent_by_rank.end())};
    return plan;
}

}  // namespace

IdealTime ideal_time(const collective::Schedule& schedule, const Assumptions& assumptions) {
    std::uint64_t bytes = 0;
    std::uint64_t steps = 0;
    for (const RankClass& same : collective::rank_classes(schedule)) {
        bytes = std::max(bytes, busiest_direction(same.totals));
        steps = std::max(steps, latency_steps(schedule.call(), same.totals));
    }
    IdealTime ideal;
    ideal.alpha = assumptions.step_latency * static_cast<Nanoseconds::rep>(steps);
    if (assumptions.line_rate) {
        const double goodput =
            assumptions.line_rate->value * wire::goodput_fraction(assumptions.path_mtu, shape_of(assumptions));
        ideal.beta = Nanoseconds{std::llround(static_cast<double>(bytes) * 8e9 / goodput)};
    }
    ideal.bound = bound_of(ideal, bytes, steps, assumptions);
    return ideal;
}

Result<Plan> make_plan(const workload::Workload& workload, const Assumptions& assumptions,
                       const profiles::Profile& profile) {
    constexpr std::array kPathMtus{256U, 512U, 1024U, 2048U, 4096U};
    if (std::find(kPathMtus.begin(), kPathMtus.end(), assumptions.path_mtu) == kPathMtus.end()) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("path MTU {} is none of 256, 512, 1024, 2048, 4096", assumptions.path_mtu));
    }
    if (assumptions.line_rate && !(assumptions.line_rate->value > 0)) {
        return failure(ErrorCode::invalid_input, fmt::format("line rate {:g} Gb/s: no ceiling follows from it",
                                                             gigabits(*assumptions.line_rate)));
    }
    Plan plan;
    plan.ranks = workload.ranks;
    for (const workload::Measurement& measurement : workload.measurements) {
        auto planned = plan_measurement(measurement, workload.ranks, assumptions);
        if (!planned) return tl::unexpected(planned.error());
        plan.measurements.push_back(std::move(*planned));
    }
    plan.schedule_hash = schedule_hash(workload, assumptions, profile);
    return plan;
}

}  // namespace gradstorm::plan
