// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradstorm::roce {

/// When to look at which queue pair again. Lazy: an alarm may be earlier than the queue pair's true deadline, so that
/// moving a deadline back with every acknowledgement costs nothing here; whoever is woken early asks for a later alarm.
/// At most one alarm a queue pair, an indexed binary heap; no allocation after resize().
class TimerHeap {
public:
    using Index = std::uint32_t;

    /// Room for queue pairs 0 .. count - 1.
    void resize(std::size_t count);

    /// Makes sure that the queue pair is looked at by `at`. Cheap when an alarm as early is set already.
    void arm(Index queue_pair, Instant at) {
        if (alarms_[queue_pair] > at) set(queue_pair, at);
    }

    [[nodiscard]] Instant next() const { return heap_.empty() ? kNoDeadline : alarms_[heap_.front()]; }

    /// Takes out the queue pair of the earliest alarm. Precondition: next() != kNoDeadline.
    Index pop();

private:
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

    void set(Index queue_pair, Instant at);
    void sift_up(std::size_t place);
    void sift_down(std::size_t place);
    [[nodiscard]] bool before(Index a, Index b) const {
        return alarms_[a] != alarms_[b] ? alarms_[a] < alarms_[b] : a < b;  // ties by index: deterministic
    }
    void put(std::size_t place, Index queue_pair) {
        heap_[place] = queue_pair;
        places_[queue_pair] = static_cast<std::uint32_t>(place);
    }

    std::vector<Instant> alarms_;        // by queue pair; kNoDeadline: none
    std::vector<std::uint32_t> places_;  // by queue pair: where it is in the heap
    std::vector<Index> heap_;
};

}  // namespace gradstorm::roce
