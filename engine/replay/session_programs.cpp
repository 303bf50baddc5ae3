// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/session_setup.h"

#include <algorithm>

namespace gradstorm::replay {

ProgramBuilder::ProgramBuilder(Session::State& state, std::uint32_t rank, std::uint32_t job,
                               const std::vector<SendConnection>& sends, const std::vector<ReceiveConnection>& receives,
                               const std::map<ConnectionName, std::uint64_t>& peer_arenas)
    : state_(&state), rank_(rank), job_(job), peer_arenas_(&peer_arenas) {
    for (const SendConnection& send : sends) {
        send_index_.emplace(send.name, static_cast<std::uint32_t>(send_index_.size()));
    }
    for (const ReceiveConnection& receive : receives) {
        receive_index_.emplace(receive.name, static_cast<std::uint32_t>(receive_index_.size()));
    }
}

std::vector<RankProgram> ProgramBuilder::build() {
    std::vector<RankProgram> programs;
    programs.reserve(state_->workload().measurements.size());
    for (std::uint32_t m = 0; m < state_->workload().measurements.size(); ++m) programs.push_back(program(m));
    return programs;
}

RankProgram ProgramBuilder::program(std::uint32_t measurement) {
    RankProgram program;
    const auto& jobs = state_->workload().measurements[measurement].jobs;
    if (job_ >= jobs.size()) return program;
    const ScheduledJob& scheduled = state_->schedules[measurement][job_];
    std::uint32_t first = 0;  // number of the job's first call in the measurement
    for (std::uint32_t job = 0; job < job_; ++job) first += static_cast<std::uint32_t>(jobs[job].calls.size());
    program.overlap = jobs[job_].overlap;
    for (std::uint32_t c = 0; c < jobs[job_].calls.size(); ++c) {
        const workload::PlannedCall& planned = jobs[job_].calls[c];
        if (!local_rank(planned.group, rank_)) continue;
        RankCall made = call(*scheduled.calls[c], planned.group);
        made.label = planned.label;
        made.gap = planned.gap;
        made.index = first + c;
        place(made, planned.group, measurement, c);
        program.calls.push_back(std::move(made));
    }
    const bool checks = state_->options.payload == Payload::memory && state_->options.checking != Checking::none;
    if (checks && scheduled.barrier && local_rank(scheduled.ranks, rank_)) {
        program.barrier = std::make_unique<RankCall>(call(*scheduled.barrier, scheduled.ranks));
        program.barrier->label = "barrier";
    }
    return program;
}

RankCall ProgramBuilder::call(const collective::Schedule& schedule, const std::vector<std::uint32_t>& group) {
    RankCall call;
    const std::uint32_t local = *local_rank(group, rank_);
    const std::uint32_t channels = schedule.call().channels;
    most_channels_ = std::max(most_channels_, channels);
    call.schedule = &schedule;
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        for (const auto role : {collective::Role::send, collective::Role::receive, collective::Role::local}) {
            call.cursors.push_back(schedule.cursor(local, channel, role));
        }
    }
    link(call, group, local);
    return call;
}

void ProgramBuilder::link(RankCall& call, const std::vector<std::uint32_t>& group, std::uint32_t local) {
    const std::uint32_t channels = call.schedule->call().channels;
    call.send_links.resize(channels);
    call.receive_links.resize(channels);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        for (std::uint32_t peer = 0; peer < group.size(); ++peer) {
            if (peer == local) continue;
            const ConnectionName out{job_, rank_, group[peer], channel};
            if (const auto send = send_index_.find(out); send != send_index_.end()) {
                const std::uint64_t arena = peer_arenas_->at(out);
                call.send_links[channel].push_back({peer, send->second, {arena, arena, arena}});
            }
            const ConnectionName in{job_, group[peer], rank_, channel};
            if (const auto receive = receive_index_.find(in); receive != receive_index_.end()) {
                call.receive_links[channel].push_back({peer, receive->second, {}});
            }
        }
    }
}

void ProgramBuilder::place(RankCall& call, const std::vector<std::uint32_t>& group, std::uint32_t measurement,
                           std::uint32_t index) {
    BufferLayout& layout = *state_->layout;
    const auto at = [&](std::uint64_t arena, std::uint32_t rank) {
        const CallBuffers offsets = layout.offsets(measurement, job_, index, rank);
        return CallBuffers{arena + offsets.source, arena + offsets.result, arena + offsets.work};
    };
    call.own = at(state_->arenas.at(rank_).region.address, rank_);
    for (auto& links : call.send_links) {
        for (PeerLink& link : links) link.buffers = at(link.buffers.source, group[link.peer]);
    }
    const std::uint32_t local = *local_rank(group, rank_);
    call.result_length = collective::buffer_sizes(call.schedule->call(), local).result.value;
    if (state_->options.payload != Payload::memory || state_->options.checking == Checking::none) return;
    call.expectations = state_->patterns->expectations(call.schedule->call(), local, call.index, call.own.result);
}

}  // namespace gradstorm::replay
