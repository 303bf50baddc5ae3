// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace gradstorm::memory {

/// A first-in-first-out queue of fixed capacity: no allocation after its making.
template <class T>
class FixedQueue {
public:
    explicit FixedQueue(std::size_t capacity) : entries_(std::bit_ceil(capacity < 1 ? 1 : capacity)) {}

    [[nodiscard]] bool empty() const { return head_ == tail_; }
    [[nodiscard]] bool full() const { return tail_ - head_ == entries_.size(); }
    [[nodiscard]] std::size_t size() const { return tail_ - head_; }
    void push(const T& value) { entries_[tail_++ & (entries_.size() - 1)] = value; }
    [[nodiscard]] T& front() { return entries_[head_ & (entries_.size() - 1)]; }
    void pop() { ++head_; }

private:
    std::vector<T> entries_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

}  // namespace gradstorm::memory
