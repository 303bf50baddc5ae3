// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gradstorm::replay {

Worker::Worker(std::uint32_t id, transport::Endpoint& endpoint, memory::ComputeEngine& compute)
    : id_(id), posting_(endpoint), compute_(&compute) {
    failures_.reserve(kKeptFailures);
}

void Worker::add(std::unique_ptr<RankExecutor> executor) {
    const auto route = [&](transport::QueuePairIndex queue_pair, std::size_t connection, Direction direction) {
        if (routes_.size() <= queue_pair) routes_.resize(queue_pair + 1);
        routes_[queue_pair] = {executor.get(), static_cast<std::uint32_t>(connection), direction};
    };
    for (std::size_t i = 0; i < executor->sends().size(); ++i) {
        route(executor->sends()[i].queue_pair, i, Direction::send);
    }
    for (std::size_t i = 0; i < executor->receives().size(); ++i) {
        route(executor->receives()[i].queue_pair, i, Direction::receive);
    }
    executors_.push_back(std::move(executor));
}

void Worker::begin_segment(bool measured) {
    measured_ = measured;
    last_step_.reset();
    finished_.store(executors_.empty(), std::memory_order_relaxed);
}

StepResult Worker::step(Instant now) {
    posting_.set_time(now);
    StepResult result = posting_.endpoint().step(now);
    result.worked |= poll_completions(now);
    result.worked |= poll_compute();
    if (!failed_.load(std::memory_order_relaxed)) {
        bool finished = true;
        for (const auto& executor : executors_) {
            result.worked |= executor->step(now);
            result.deadline = std::min(result.deadline, executor->deadline());
            finished &= executor->finished();
        }
        result.worked |= posting_.flush();
        if (finished && !finished_.load(std::memory_order_relaxed)) finished_.store(true, std::memory_order_release);
    }
    result.worked |= compute_->busy();
    if (now >= next_bytes_at_) {
        bytes_.store(received_bytes(), std::memory_order_relaxed);
        next_bytes_at_ = now + kBytesInterval;
    }
    if (!finished_.load(std::memory_order_relaxed)) result.deadline = std::min(result.deadline, next_bytes_at_);
    if (measured_) account_for(now, result.worked);
    return result;
}

/// The step before has lasted until this one began.
void Worker::account_for(Instant now, bool worked) {
    ++account_.steps;
    if (last_step_) {
        const Nanoseconds gap = now - *last_step_;
        account_.longest_gap = std::max(account_.longest_gap, gap);
        account_.time += gap;
        if (last_step_worked_) account_.busy_time += std::min(gap, WorkerAccount::kLateGap);
        if (gap > WorkerAccount::kLateGap) {
            ++account_.late_gaps;
            account_.late_time += gap;
        }
    }
    last_step_ = now;
    last_step_worked_ = worked;
}

bool Worker::poll_completions(Instant now) {
    std::array<transport::Completion, kBatch> batch;
    bool worked = false;
    for (std::size_t count = kBatch; count == kBatch;) {
        count = posting_.endpoint().poll(batch);
        for (std::size_t i = 0; i < count; ++i) dispatch(batch[i], now);
        worked |= count != 0;
    }
    return worked;
}

void Worker::dispatch(const transport::Completion& completion, Instant now) {
    if (completion.queue_pair >= routes_.size()) return;
    const Route& route = routes_[completion.queue_pair];
    if (route.executor == nullptr) return;
    route.executor->wake();
    if (completion.status != transport::CompletionStatus::success) return fail(route, completion, {});
    if (route.direction == Direction::send) {
        dispatch_to_sender(route, completion, now);
    } else {
        dispatch_to_receiver(route, completion, now);
    }
}

void Worker::dispatch_to_sender(const Route& route, const transport::Completion& completion, Instant now) {
    CallExecutor& call = route.executor->call();
    if (completion.kind == transport::CompletionKind::sent) return call.send_acknowledged(route.connection, now);
    posting_.receive_consumed(completion.queue_pair);
    const SendConnection& connection = route.executor->sends()[route.connection];
    const std::uint64_t granted = extend(connection.granted, completion.immediate);
    if (granted - connection.queue.posted > connection.slots.count) {
        return fail(route, completion,
                    fmt::format("credit for message {} though only {} were sent and {} may be under way", granted,
                                connection.queue.posted, connection.slots.count));
    }
    call.credit_arrived(route.connection, completion.immediate, now);
}

void Worker::dispatch_to_receiver(const Route& route, const transport::Completion& completion, Instant now) {
    if (completion.kind == transport::CompletionKind::sent) {
        return route.executor->call().credit_acknowledged(route.connection);
    }
    posting_.receive_consumed(completion.queue_pair);
    const ReceiveConnection& connection = route.executor->receives()[route.connection];
    const auto number = static_cast<std::uint32_t>(connection.landed);
    if (connection.landed >= connection.granted || completion.immediate != number) {
        return fail(route, completion,
                    fmt::format("message {} arrived where message {} was expected", completion.immediate, number));
    }
    const std::uint64_t expected = connection.lengths[connection.landed & (connection.lengths.size() - 1)];
    if (completion.length != expected) {
        return fail(route, completion,
                    fmt::format("message {} has {} bytes instead of {}", number, completion.length, expected));
    }
    route.executor->call().data_landed(route.connection, now);
}

bool Worker::poll_compute() {
    if (!compute_->busy()) return false;
    std::array<memory::ComputeCompletion, kBatch> batch;
    const std::size_t count = compute_->poll(batch);
    for (std::size_t i = 0; i < count; ++i) {
        const auto executor = static_cast<std::size_t>(batch[i].id >> 32U);
        executors_[executor]->wake();
        executors_[executor]->compute_completed(static_cast<std::uint32_t>(batch[i].id), batch[i].mismatch);
    }
    return true;
}

/// Not data path any more: the run is over.
void Worker::fail(const Route& route, const transport::Completion& completion, std::string what) {
    if (failures_.size() == kKeptFailures) return;
    const bool sender = route.direction == Direction::send;
    const ConnectionName& name =
        sender ? route.executor->sends()[route.connection].name : route.executor->receives()[route.connection].name;
    failures_.push_back({.rank = sender ? name.from : name.to,
                         .peer = sender ? name.to : name.from,
                         .channel = name.channel,
                         .queue_pair = completion.queue_pair,
                         .status = completion.status,
                         .what = std::move(what)});
    failed_.store(true, std::memory_order_release);
}

std::uint64_t Worker::progress() const {
    std::uint64_t sum = bytes_.load(std::memory_order_relaxed);
    for (const auto& executor : executors_) sum += executor->progress();
    return sum;
}

Instant Worker::gap_until() const {
    Instant latest{};
    for (const auto& executor : executors_) latest = std::max(latest, executor->gap_until());
    return latest;
}

std::uint64_t Worker::received_bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t hca = 0; hca < endpoint().hca_count(); ++hca) sum += endpoint().counters(hca).rx_payload_bytes;
    return sum;
}

}  // namespace gradstorm::replay
