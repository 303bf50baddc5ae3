// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/posting_queue.h"

namespace gradstorm::replay {

void PostingQueue::add_queue_pair(transport::QueuePairIndex queue_pair, std::uint32_t receive_depth,
                                  std::uint32_t batch) {
    if (consumed_.size() <= queue_pair) consumed_.resize(queue_pair + 1);
    consumed_[queue_pair] = {0, batch};
    receives_.reserve(receives_.capacity() + receive_depth);
}

void PostingQueue::push(const transport::WorkRequest& request) {
    requests_.push_back(request);
    if (tap_ != nullptr) tap_->posted(now_, worker_, request);
}

void PostingQueue::receive_consumed(transport::QueuePairIndex queue_pair) {
    Consumed& consumed = consumed_[queue_pair];
    if (++consumed.count < consumed.batch) return;
    for (; consumed.count > 0; --consumed.count) receives_.push_back({.queue_pair = queue_pair});
}

bool PostingQueue::flush() {
    bool worked = false;
    if (!receives_.empty()) {
        const std::size_t taken = endpoint_->post_receive(receives_);
        receives_.erase(receives_.begin(), receives_.begin() + static_cast<std::ptrdiff_t>(taken));
        worked |= taken != 0;
    }
    if (!requests_.empty()) {
        const std::size_t taken = endpoint_->post(requests_);
        requests_.erase(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(taken));
        worked |= taken != 0;
    }
    return worked;
}

}  // namespace gradstorm::replay
