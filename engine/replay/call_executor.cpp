// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/call_executor.h"

#include <algorithm>

namespace gradstorm::replay {

using collective::Op;
using collective::OpKind;
using collective::Place;
using collective::Role;
using collective::stream_index;

namespace {

constexpr std::uint64_t kNoSlot = 0;
constexpr std::uint64_t kEmptiesSlot = 1;

/// Local ops read a landed message when they reduce, or copy out of a slot.
bool takes_slot(const Op& op) { return op.kind == OpKind::reduce || op.from == Place::slot; }

}  // namespace

CallExecutor::CallExecutor(const Environment& environment) : environment_(environment) {
    const std::uint32_t streams = environment.channels * collective::kRoles;
    streams_.reserve(streams);
    for (std::uint32_t i = 0; i < streams; ++i) streams_.emplace_back(environment.window);
    owing_.reserve(environment.receives.size());
}

void CallExecutor::launch(RankCall& call) {
    call_ = &call;
    channels_ = call.schedule->call().channels;
    open_streams_ = channels_ * collective::kRoles;
    for (std::uint32_t i = 0; i < open_streams_; ++i) {
        Stream& stream = streams_[i];
        stream.cursor = call.cursors[i].get();
        stream.cursor->restart();
        stream.completed = 0;
        stream.open = true;
        stream.cached_link = nullptr;
        fetch(stream);
    }
    for (std::uint32_t i = 0; i < channels_ * collective::kRoles; ++i) close_if_at_end(streams_[i]);
}

bool CallExecutor::advance(Instant now) {
    bool moved = false;
    starved_ = false;
    for (bool again = true; again;) {
        again = false;
        for (std::uint32_t channel = 0; channel < channels_; ++channel) {
            again |= advance_receive(channel);
            again |= advance_local(channel);
            again |= advance_send(channel, now);
        }
        moved |= again;
    }
    moved |= send_credits();
    return moved;
}

bool CallExecutor::ready(const Op& op) const {
    return std::all_of(op.after.begin(), op.after.end(), [this](const collective::Dependency& after) {
        return after.completed == 0 || streams_[after.stream].completed >= after.completed;
    });
}

const PeerLink& CallExecutor::link_of(Stream& stream, const std::vector<PeerLink>& links) {
    if (stream.cached_link == nullptr || stream.cached_peer != stream.op.peer) {
        stream.cached_peer = stream.op.peer;
        stream.cached_link =
            &*std::lower_bound(links.begin(), links.end(), stream.op.peer,
                               [](const PeerLink& link, std::uint32_t peer) { return link.peer < peer; });
    }
    return *stream.cached_link;
}

void CallExecutor::complete_front(Stream& stream) {
    stream.outstanding.pop();
    ++stream.completed;
    ++progress_;
    close_if_at_end(stream);
}

void CallExecutor::close_if_at_end(Stream& stream) {
    if (!stream.open || stream.more || !stream.outstanding.empty()) return;
    stream.open = false;
    --open_streams_;
}

bool CallExecutor::advance_receive(std::uint32_t channel) {
    Stream& stream = streams_[stream_index(channel, Role::receive)];
    if (!stream.open) return false;
    bool moved = false;
    while (!stream.outstanding.empty()) {
        const Outstanding& front = stream.outstanding.front();
        if (environment_.receives[front.connection].landed <= front.message) break;
        complete_front(stream);
        moved = true;
    }
    while (stream.more && !stream.outstanding.full() && ready(stream.op)) {
        const PeerLink& link = link_of(stream, call_->receive_links[channel]);
        if (!environment_.receives[link.connection].may_grant(stream.op.to == Place::slot)) break;
        grant(stream, link);
        moved = true;
    }
    return moved;
}

void CallExecutor::grant(Stream& stream, const PeerLink& link) {
    ReceiveConnection& connection = environment_.receives[link.connection];
    stream.outstanding.push({link.connection, stream.op.step, connection.granted});
    connection.length_of(connection.granted) = stream.op.length;
    ++connection.granted;
    if (stream.op.to == Place::slot) ++connection.slots_granted;
    if (!connection.credit_owed) {
        connection.credit_owed = true;
        owing_.push_back(link.connection);
    }
    fetch(stream);
}

bool CallExecutor::send_credits() {
    bool moved = false;
    std::size_t kept = 0;
    for (const std::uint32_t index : owing_) {
        ReceiveConnection& connection = environment_.receives[index];
        if (!connection.queue.room() || !environment_.posting->room()) {
            starved_ |= !environment_.posting->room();
            owing_[kept++] = index;
            continue;
        }
        environment_.posting->push({.remote_address = connection.remote_address,
                                    .remote_key = connection.remote_key,
                                    .immediate = static_cast<std::uint32_t>(connection.granted),
                                    .queue_pair = connection.queue_pair,
                                    .opcode = transport::Opcode::write_with_immediate,
                                    .traffic_class = transport::TrafficClass::clear_to_send});
        ++connection.queue.posted;
        connection.credit_owed = false;
        moved = true;
    }
    owing_.resize(kept);
    return moved;
}

bool CallExecutor::advance_local(std::uint32_t channel) {
    Stream& stream = streams_[stream_index(channel, Role::local)];
    if (!stream.open) return false;
    bool moved = false;
    while (stream.more && !stream.outstanding.full() && ready(stream.op) && start_local(stream, channel)) moved = true;
    return moved;
}

bool CallExecutor::start_local(Stream& stream, std::uint32_t channel) {
    const Op& op = stream.op;
    const bool slot = takes_slot(op);
    const PeerLink* link = slot ? &link_of(stream, call_->receive_links[channel]) : nullptr;
    ReceiveConnection* connection = slot ? &environment_.receives[link->connection] : nullptr;
    const std::uint64_t landed = slot ? connection->slots.of(connection->slots_taken) : 0;
    const bool reduce = op.kind == OpKind::reduce;
    const std::uint64_t from = op.from == Place::slot ? landed : call_->own.of(op.from) + op.from_offset;
    const memory::ComputeJob job{.id = environment_.compute_id + channel,
                                 .kind = reduce ? memory::ComputeKind::sum : memory::ComputeKind::copy,
                                 .type = call_->schedule->call().type,
                                 .to = call_->own.of(op.to) + op.to_offset,
                                 .a = from,
                                 .b = reduce ? landed : 0,
                                 .length = op.length};
    if (!environment_.compute->submit(job)) {
        starved_ = true;
        return false;
    }
    if (slot) ++connection->slots_taken;
    stream.outstanding.push({slot ? link->connection : 0, op.step, slot ? kEmptiesSlot : kNoSlot});
    fetch(stream);
    return true;
}

void CallExecutor::local_completed(std::uint32_t channel) {
    Stream& stream = streams_[stream_index(channel, Role::local)];
    const Outstanding& front = stream.outstanding.front();
    if (front.message == kEmptiesSlot) ++environment_.receives[front.connection].slots_emptied;
    complete_front(stream);
}

bool CallExecutor::advance_send(std::uint32_t channel, Instant now) {
    Stream& stream = streams_[stream_index(channel, Role::send)];
    if (!stream.open) return false;
    bool moved = false;
    while (!stream.outstanding.empty()) {
        const Outstanding& front = stream.outstanding.front();
        if (environment_.sends[front.connection].queue.completed <= front.message) break;
        complete_front(stream);
        moved = true;
    }
    while (stream.more && !stream.outstanding.full() && ready(stream.op)) {
        if (!environment_.posting->room()) {
            starved_ = true;
            break;
        }
        const PeerLink& link = link_of(stream, call_->send_links[channel]);
        if (!environment_.sends[link.connection].may_send()) break;
        post_data(stream, link, now);
        moved = true;
    }
    return moved;
}

void CallExecutor::post_data(Stream& stream, const PeerLink& link, Instant now) {
    const Op& op = stream.op;
    SendConnection& connection = environment_.sends[link.connection];
    const bool into_slot = op.to == Place::slot;
    const std::uint64_t message = connection.queue.posted++;
    const std::uint64_t direct = op.to == Place::none ? link.buffers.source : link.buffers.of(op.to) + op.to_offset;
    environment_.posting->push({.id = message,
                                .local_address = call_->own.of(op.from) + op.from_offset,
                                .remote_address = into_slot ? connection.slots.of(connection.slot_messages++) : direct,
                                .length = static_cast<std::uint32_t>(op.length),
                                .local_key = connection.local_key,
                                .remote_key = connection.remote_key,
                                .immediate = static_cast<std::uint32_t>(message),
                                .queue_pair = connection.queue_pair,
                                .opcode = transport::Opcode::write_with_immediate,
                                .traffic_class = transport::TrafficClass::data});
    connection.posted_at_of(message) = now;
    stream.outstanding.push({link.connection, op.step, message});
    fetch(stream);
}

void CallExecutor::data_landed(std::uint32_t index, Instant now) {
    ReceiveConnection& connection = environment_.receives[index];
    ++connection.landed;
    connection.last_heard = now;
    ++progress_;
}

void CallExecutor::credit_arrived(std::uint32_t index, std::uint32_t immediate, Instant now) {
    SendConnection& connection = environment_.sends[index];
    connection.granted = extend(connection.granted, immediate);
    connection.last_heard = now;
    ++progress_;
}

void CallExecutor::send_acknowledged(std::uint32_t index, Instant now) {
    SendConnection& connection = environment_.sends[index];
    if (latency_ != nullptr) latency_->record((now - connection.posted_at_of(connection.queue.completed)).count());
    ++connection.queue.completed;
    connection.last_heard = now;
}

bool CallExecutor::quiet() const {
    const auto empty = [](const auto& connection) { return connection.queue.empty(); };
    return owing_.empty() && std::all_of(environment_.sends.begin(), environment_.sends.end(), empty) &&
           std::all_of(environment_.receives.begin(), environment_.receives.end(), empty);
}

void CallExecutor::report_waits(std::uint32_t rank, std::vector<WaitFor>& waits) const {
    if (call_ == nullptr) return;
    if (done()) {  // draining: what was sent, credits too, is not acknowledged yet
        for (const SendConnection& to : environment_.sends) {
            if (to.queue.empty()) continue;
            waits.push_back(
                {rank, to.name.to, to.name.channel, 0, WaitKind::acknowledgement, call_->label, to.last_heard});
        }
        for (const ReceiveConnection& from : environment_.receives) {
            if (from.queue.empty()) continue;
            waits.push_back(
                {rank, from.name.from, from.name.channel, 0, WaitKind::acknowledgement, call_->label, from.last_heard});
        }
        return;
    }
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
        Stream receive = streams_[stream_index(channel, Role::receive)];
        if (!receive.outstanding.empty()) {
            const Outstanding& front = receive.outstanding.front();
            const ReceiveConnection& from = environment_.receives[front.connection];
            waits.push_back({rank, from.name.from, channel, front.step, WaitKind::data, call_->label, from.last_heard});
        }
        Stream send = streams_[stream_index(channel, Role::send)];
        if (!send.outstanding.empty()) {
            const Outstanding& front = send.outstanding.front();
            const SendConnection& to = environment_.sends[front.connection];
            waits.push_back(
                {rank, to.name.to, channel, front.step, WaitKind::acknowledgement, call_->label, to.last_heard});
        } else if (send.open && send.more && ready(send.op)) {
            const SendConnection& to = environment_.sends[link_of(send, call_->send_links[channel]).connection];
            if (to.queue.posted < to.granted) continue;
            waits.push_back({rank, to.name.to, channel, send.op.step, WaitKind::credit, call_->label, to.last_heard});
        }
    }
}

}  // namespace gradstorm::replay
