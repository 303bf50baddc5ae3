// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/transport/endpoint.h"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// A transport without frames: what one endpoint posts is in the other's memory and completion queue at once. For tests
/// of what stands above the transport. Obeys send and receive depth; a write with immediate waits for a receive.
namespace gradstorm::replay {

class LoopbackEndpoint;

/// Joins endpoints, also of different threads (one lock for all: this is a test device).
struct LoopbackNetwork {
    std::mutex mutex;
    std::map<std::uint32_t, std::pair<LoopbackEndpoint*, transport::QueuePairIndex>> by_qpn;
    std::uint32_t next_qpn = 2;
};

class LoopbackEndpoint final : public transport::Endpoint {
public:
    LoopbackEndpoint(LoopbackNetwork& network, std::size_t hcas, bool moves_bytes)
        : network_(&network), counters_(hcas), moves_bytes_(moves_bytes) {}

    [[nodiscard]] std::size_t hca_count() const override { return counters_.size(); }
    [[nodiscard]] Result<transport::MemoryRegion> register_memory(std::uint64_t address,
                                                                  std::uint64_t length) override {
        return transport::MemoryRegion{address, length, 1, 1};
    }
    [[nodiscard]] Result<transport::QueuePairIndex> create_queue_pair(
        const transport::QueuePairAttributes& attributes) override {
        const std::lock_guard lock(network_->mutex);
        const auto index = static_cast<transport::QueuePairIndex>(pairs_.size());
        pairs_.push_back({attributes, network_->next_qpn++, 0, 0, {}, 0});
        network_->by_qpn[pairs_.back().qpn] = {this, index};
        return index;
    }
    [[nodiscard]] transport::QueuePairAddress address_of(transport::QueuePairIndex index) const override {
        return {wire::emulated_hca_address(pairs_[index].attributes.hca), pairs_[index].qpn, 0, 4096};
    }
    [[nodiscard]] Result<void> connect(transport::QueuePairIndex index,
                                       const transport::QueuePairAddress& peer) override {
        const std::lock_guard lock(network_->mutex);
        pairs_[index].peer_qpn = peer.qpn;
        return {};
    }
    [[nodiscard]] transport::HcaCounters counters(std::size_t hca) const override {
        const std::lock_guard lock(network_->mutex);
        return counters_[hca];
    }
    [[nodiscard]] std::string describe(transport::QueuePairIndex index) const override {
        return "loopback queue pair " + std::to_string(index);
    }

    std::size_t post(std::span<const transport::WorkRequest> requests) override {
        const std::lock_guard lock(network_->mutex);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            Pair& pair = pairs_[requests[i].queue_pair];
            if (pair.sends_held == pair.attributes.send_depth) return i;
            ++pair.sends_held;
            pair.waiting.push_back(requests[i]);
        }
        return requests.size();
    }
    std::size_t post_receive(std::span<const transport::ReceiveRequest> requests) override {
        const std::lock_guard lock(network_->mutex);
        for (const auto& request : requests) pairs_[request.queue_pair].receives += frozen_ ? 0 : 1;
        return requests.size();
    }
    std::size_t poll(std::span<transport::Completion> out) override {
        const std::lock_guard lock(network_->mutex);
        std::size_t count = 0;
        for (; count < out.size() && !completions_.empty(); ++count) {
            out[count] = completions_.front();
            completions_.pop_front();
            if (out[count].kind == transport::CompletionKind::sent) --pairs_[out[count].queue_pair].sends_held;
        }
        return count;
    }
    /// Changes what arrives here; number counts arrivals from 0.
    std::function<void(std::uint64_t number, transport::Completion&)> tamper;

    /// From now on nothing leaves, and nothing that arrives is seen.
    void freeze() {
        const std::lock_guard lock(network_->mutex);
        frozen_ = true;
        for (Pair& pair : pairs_) pair.receives = 0;
    }
    StepResult step(Instant) override {
        const std::lock_guard lock(network_->mutex);
        if (frozen_) return {};
        bool worked = !completions_.empty();
        for (transport::QueuePairIndex index = 0; index < pairs_.size(); ++index) {
            while (!pairs_[index].waiting.empty() && deliver(index)) worked = true;
        }
        return {worked, kNoDeadline};
    }

private:
    struct Pair {
        transport::QueuePairAttributes attributes;
        std::uint32_t qpn = 0;
        std::uint32_t peer_qpn = 0;
        std::uint32_t sends_held = 0;
        std::deque<transport::WorkRequest> waiting;
        std::uint64_t receives = 0;
    };

    bool deliver(transport::QueuePairIndex index) {
        const auto [endpoint, peer] = network_->by_qpn.at(pairs_[index].peer_qpn);
        Pair& remote = endpoint->pairs_[peer];
        if (remote.receives == 0) return false;
        --remote.receives;
        const transport::WorkRequest request = pairs_[index].waiting.front();
        pairs_[index].waiting.pop_front();
        if (moves_bytes_ && request.length != 0) {
            std::memcpy(reinterpret_cast<void*>(request.remote_address),
                        reinterpret_cast<const void*>(request.local_address), request.length);
        }
        endpoint->counters_[remote.attributes.hca].rx_payload_bytes += request.length;
        endpoint->completions_.push_back({0, request.length, request.immediate, peer,
                                          transport::CompletionKind::received_immediate,
                                          transport::CompletionStatus::success});
        if (endpoint->tamper) endpoint->tamper(endpoint->arrivals_++, endpoint->completions_.back());
        completions_.push_back(
            {request.id, 0, 0, index, transport::CompletionKind::sent, transport::CompletionStatus::success});
        return true;
    }

    LoopbackNetwork* network_;
    std::vector<transport::HcaCounters> counters_;
    bool moves_bytes_;
    bool frozen_ = false;
    std::uint64_t arrivals_ = 0;
    std::vector<Pair> pairs_;
    std::deque<transport::Completion> completions_;
};

}  // namespace gradstorm::replay
