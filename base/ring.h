// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradstorm {

/// A first-in, first-out queue of fixed capacity (rounded up to a power of two) for one thread. Allocates in the
/// constructor and in reserve() alone; pushing into a full or popping from an empty ring is the caller's error.
template <class T>
class Ring {
public:
    Ring() = default;
    explicit Ring(std::size_t capacity) { reserve(capacity); }

    /// At least `capacity` elements fit from now on; what is inside stays, in order.
    void reserve(std::size_t capacity) {
        std::vector<T> grown(std::bit_ceil(capacity > 0 ? capacity : 1));
        const std::uint32_t count = size();
        for (std::uint32_t i = 0; i < count; ++i) grown[i] = (*this)[i];
        slots_ = std::move(grown);
        mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
        head_ = 0;
        tail_ = count;
    }

    [[nodiscard]] std::uint32_t size() const { return tail_ - head_; }
    [[nodiscard]] bool empty() const { return head_ == tail_; }
    [[nodiscard]] bool full() const { return size() == slots_.size(); }
    [[nodiscard]] std::size_t capacity() const { return slots_.size(); }

    void push(const T& value) { slots_[tail_++ & mask_] = value; }
    [[nodiscard]] T& front() { return slots_[head_ & mask_]; }
    [[nodiscard]] const T& front() const { return slots_[head_ & mask_]; }
    void pop() { ++head_; }
    void pop_back() { --tail_; }

    /// The i-th from the front.
    [[nodiscard]] T& operator[](std::uint32_t i) { return slots_[(head_ + i) & mask_]; }
    [[nodiscard]] const T& operator[](std::uint32_t i) const { return slots_[(head_ + i) & mask_]; }

private:
    std::vector<T> slots_;
    std::uint32_t mask_ = 0;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
};

}  // namespace gradstorm
