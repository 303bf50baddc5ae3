// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "engine/transport/queue_pair.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradstorm::roce {

/// Completions waiting for poll(). It cannot overflow: every posted request reserves the place of its completion, and
/// post takes no request without one. A place is free again when its completion was polled, or when its request
/// completed without one.
class CompletionQueue {
public:
    /// Adds places for the queues of one more queue pair.
    void grow(std::size_t places) {
        places_ += static_cast<std::uint32_t>(places);
        ring_.reserve(places_);
    }

    [[nodiscard]] bool full() const { return room() == 0; }
    [[nodiscard]] std::uint32_t room() const { return places_ - reserved_; }
    void reserve(std::uint32_t count = 1) { reserved_ += count; }
    void release() { --reserved_; }  ///< of a request that completed without a completion
    void push(const transport::Completion& completion) { ring_.push(completion); }

    std::size_t poll(std::span<transport::Completion> out) {
        std::size_t count = 0;
        for (; count < out.size() && !ring_.empty(); ++count) {
            out[count] = ring_.front();
            ring_.pop();
        }
        reserved_ -= static_cast<std::uint32_t>(count);
        return count;
    }

private:
    Ring<transport::Completion> ring_;
    std::uint32_t places_ = 0;
    std::uint32_t reserved_ = 0;
};

}  // namespace gradstorm::roce
