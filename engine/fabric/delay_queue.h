// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/wire/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gradstorm::fabric {

/// Frames that wait for a time to come, earliest first, in order of push() where times are equal. Bounded: its memory
/// is taken once.
class DelayQueue {
public:
    explicit DelayQueue(std::size_t capacity) : capacity_(capacity) { heap_.reserve(capacity); }

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] std::size_t room() const { return capacity_ - heap_.size(); }
    [[nodiscard]] Instant next() const { return heap_.empty() ? kNoDeadline : heap_.front().at; }
    [[nodiscard]] const wire::Frame& front() const { return heap_.front().frame; }

    /// There must be room.
    void push(const wire::Frame& frame, Instant at) {
        heap_.push_back({at, sequence_++, frame});
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }

    void pop() {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        heap_.pop_back();
    }

private:
    struct Waiting {
        Instant at;
        std::uint64_t sequence = 0;
        wire::Frame frame;
        bool operator>(const Waiting& other) const {
            return at != other.at ? at > other.at : sequence > other.sequence;
        }
    };

    std::size_t capacity_;
    std::uint64_t sequence_ = 0;
    std::vector<Waiting> heap_;
};

}  // namespace gradstorm::fabric
