// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "engine/memory/compute_engine.h"

#include <algorithm>

namespace gradstorm::memory {

/// For synthetic payload: every job completes at once and touches nothing.
class NullCompute final : public ComputeEngine {
public:
    explicit NullCompute(std::size_t capacity = 256) : ids_(capacity) {}

    [[nodiscard]] bool submit(const ComputeJob& job) override {
        if (ids_.full()) return false;
        ids_.push(job.id);
        return true;
    }
    std::size_t poll(std::span<ComputeCompletion> out) override {
        const std::size_t count = std::min<std::size_t>(out.size(), ids_.size());
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = {ids_.front(), {}};
            ids_.pop();
        }
        return count;
    }
    [[nodiscard]] bool busy() const override { return !ids_.empty(); }

private:
    Ring<std::uint64_t> ids_;
};

}  // namespace gradstorm::memory
