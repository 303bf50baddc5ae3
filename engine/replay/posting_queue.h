// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/transport/endpoint.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradstorm::replay {

/// Sees every work request at the moment it is decided on. For traces; not in measured runs.
class WorkRequestTap {
public:
    virtual ~WorkRequestTap() = default;
    virtual void posted(Instant now, std::uint32_t worker, const transport::WorkRequest& request) = 0;
};

/// What the executors of one worker want to post on one endpoint, collected over a step and handed over in one call, in
/// order. Receives are posted again in batches. Allocates only while it is made.
class PostingQueue {
public:
    static constexpr std::size_t kCapacity = 256;

    explicit PostingQueue(transport::Endpoint& endpoint) : endpoint_(&endpoint) { requests_.reserve(kCapacity); }

    /// Announces a queue pair that has `receive_depth` receives posted: they are posted again `batch` at a time.
    void add_queue_pair(transport::QueuePairIndex queue_pair, std::uint32_t receive_depth, std::uint32_t batch);

    [[nodiscard]] bool room() const { return requests_.size() < kCapacity; }
    void push(const transport::WorkRequest& request);
    void receive_consumed(transport::QueuePairIndex queue_pair);

    /// Whether something was taken by the endpoint.
    bool flush();

    [[nodiscard]] transport::Endpoint& endpoint() const { return *endpoint_; }
    void observe(WorkRequestTap* tap, std::uint32_t worker) {
        tap_ = tap;
        worker_ = worker;
    }
    void set_time(Instant now) { now_ = now; }

private:
    struct Consumed {
        std::uint32_t count = 0;
        std::uint32_t batch = 1;
    };

    transport::Endpoint* endpoint_;
    std::vector<transport::WorkRequest> requests_;
    std::vector<transport::ReceiveRequest> receives_;
    std::vector<Consumed> consumed_;  ///< by queue pair
    WorkRequestTap* tap_ = nullptr;
    std::uint32_t worker_ = 0;
    Instant now_{};
};

}  // namespace gradstorm::replay
