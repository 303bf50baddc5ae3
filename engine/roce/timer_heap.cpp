// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/timer_heap.h"

namespace gradstorm::roce {

void TimerHeap::resize(std::size_t count) {
    alarms_.resize(count, kNoDeadline);
    places_.resize(count, kAbsent);
    heap_.reserve(count);
}

void TimerHeap::set(Index queue_pair, Instant at) {
    alarms_[queue_pair] = at;
    if (places_[queue_pair] == kAbsent) {
        heap_.push_back(queue_pair);
        places_[queue_pair] = static_cast<std::uint32_t>(heap_.size() - 1);
    }
    sift_up(places_[queue_pair]);
}

TimerHeap::Index TimerHeap::pop() {
    const Index first = heap_.front();
    const Index last = heap_.back();
    heap_.pop_back();
    alarms_[first] = kNoDeadline;
    places_[first] = kAbsent;
    if (!heap_.empty()) {
        put(0, last);
        sift_down(0);
    }
    return first;
}

void TimerHeap::sift_up(std::size_t place) {
    const Index moving = heap_[place];
    while (place > 0) {
        const std::size_t parent = (place - 1) / 2;
        if (!before(moving, heap_[parent])) break;
        put(place, heap_[parent]);
        place = parent;
    }
    put(place, moving);
}

void TimerHeap::sift_down(std::size_t place) {
    const Index moving = heap_[place];
    for (;;) {
        std::size_t child = 2 * place + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
        if (!before(heap_[child], moving)) break;
        put(place, heap_[child]);
        place = child;
    }
    put(place, moving);
}

}  // namespace gradstorm::roce
