// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/connection_plan.h"

#include "engine/replay/pattern_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace gradstorm::replay {

namespace {

Result<ScheduledJob> schedule(const workload::JobIteration& job) {
    ScheduledJob scheduled;
    std::set<std::uint32_t> ranks;
    for (const workload::PlannedCall& planned : job.calls) {
        auto made = collective::make_schedule(planned.call);
        if (!made) return failure(made.error().code, fmt::format("{}: {}", planned.label, made.error().message));
        scheduled.calls.push_back(std::move(*made));
        ranks.insert(planned.group.begin(), planned.group.end());
    }
    scheduled.ranks.assign(ranks.begin(), ranks.end());
    if (ranks.size() < 2) return scheduled;
    auto barrier = collective::make_schedule({.kind = measure::CollectiveKind::barrier,
                                              .type = measure::DataType::uint8,
                                              .ranks = static_cast<std::uint32_t>(ranks.size())});
    if (!barrier) return tl::unexpected(barrier.error());
    scheduled.barrier = std::move(*barrier);
    return scheduled;
}

/// The message of a slot, rounded up so that slots begin on cache lines.
std::uint64_t slot_stride(const collective::Schedule& schedule) {
    if (!reduces(schedule.call().kind)) return 0;
    return (schedule.totals(0).largest_message.value + 63U) / 64U * 64U;
}

class Planner {
public:
    Planner(const std::set<std::uint32_t>& local, ConnectionPlan& plan) : local_(&local), plan_(&plan) {}

    void add(std::uint32_t job, const collective::Schedule& schedule, const std::vector<std::uint32_t>& group) {
        const std::uint64_t stride = slot_stride(schedule);
        for (std::uint32_t channel = 0; channel < schedule.call().channels; ++channel) {
            for (std::uint32_t from = 0; from < group.size(); ++from) {
                for (const std::uint32_t to : schedule.peers(from, channel)) {
                    add({job, group[from], group[to], channel}, stride);
                }
            }
        }
    }

private:
    void add(const ConnectionName& name, std::uint64_t stride) {
        if (!local_->contains(name.from) && !local_->contains(name.to)) return;
        std::uint64_t& known = (*plan_)[name];
        known = std::max(known, stride);
    }

    const std::set<std::uint32_t>* local_;
    ConnectionPlan* plan_;
};

}  // namespace

Result<ScheduleBook> make_schedule_book(const workload::Workload& workload) {
    ScheduleBook book;
    for (const workload::Measurement& measurement : workload.measurements) {
        auto& jobs = book.emplace_back();
        for (const workload::JobIteration& job : measurement.jobs) {
            auto scheduled = schedule(job);
            if (!scheduled) return tl::unexpected(scheduled.error());
            jobs.push_back(std::move(*scheduled));
        }
    }
    return book;
}

ConnectionPlan plan_connections(const workload::Workload& workload, const ScheduleBook& schedules,
                                const std::set<std::uint32_t>& local) {
    ConnectionPlan plan;
    Planner planner(local, plan);
    for (std::size_t m = 0; m < schedules.size(); ++m) {
        for (std::uint32_t job = 0; job < schedules[m].size(); ++job) {
            const ScheduledJob& scheduled = schedules[m][job];
            for (std::size_t c = 0; c < scheduled.calls.size(); ++c) {
                planner.add(job, *scheduled.calls[c], workload.measurements[m].jobs[job].calls[c].group);
            }
            if (scheduled.barrier) planner.add(job, *scheduled.barrier, scheduled.ranks);
        }
    }
    return plan;
}

std::string encode(const std::vector<ConnectionEnd>& ends) {
    std::string text;
    for (const ConnectionEnd& end : ends) {
        fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", end.name.job,
                       end.name.from, end.name.to, end.name.channel, end.sender ? 1 : 0,
                       wire::to_string(end.queue_pair.hca.mac), wire::to_string(end.queue_pair.hca.ip),
                       end.queue_pair.qpn, end.queue_pair.initial_psn, end.queue_pair.path_mtu, end.arena,
                       end.remote_key, end.slots.address, end.slots.stride, end.slots.count);
    }
    return text;
}

Result<std::vector<ConnectionEnd>> decode_connection_ends(const std::string& text) {
    std::vector<ConnectionEnd> ends;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        ConnectionEnd end;
        std::string mac;
        std::string ip;
        fields >> end.name.job >> end.name.from >> end.name.to >> end.name.channel >> end.sender >> mac >> ip >>
            end.queue_pair.qpn >> end.queue_pair.initial_psn >> end.queue_pair.path_mtu >> end.arena >>
            end.remote_key >> end.slots.address >> end.slots.stride >> end.slots.count;
        const auto parsed_mac = wire::parse_mac(mac);
        const auto parsed_ip = wire::parse_ip(ip);
        if (!fields || !parsed_mac || !parsed_ip || end.slots.count == 0) {
            return failure(ErrorCode::peer,
                           fmt::format("a peer sent the connection \"{}\", which this version does not understand; run "
                                       "the same version everywhere",
                                       line));
        }
        end.queue_pair.hca = {*parsed_mac, *parsed_ip};
        ends.push_back(end);
    }
    return ends;
}

}  // namespace gradstorm::replay
