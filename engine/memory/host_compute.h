// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "engine/memory/compute_engine.h"

namespace gradstorm::memory {

/// The processor as ComputeEngine. A poll works on at most kQuantum bytes, a few microseconds, so that no
/// acknowledgement waits for a sum.
class HostCompute final : public ComputeEngine {
public:
    static constexpr std::uint64_t kQuantum = std::uint64_t{64} << 10U;

    explicit HostCompute(std::size_t capacity = 256) : jobs_(capacity) {}

    [[nodiscard]] bool submit(const ComputeJob& job) override;
    std::size_t poll(std::span<ComputeCompletion> out) override;
    [[nodiscard]] bool busy() const override { return !jobs_.empty(); }

private:
    void work(const ComputeJob& job, std::uint64_t length);

    Ring<ComputeJob> jobs_;
    std::uint64_t done_ = 0;  ///< bytes of the job in front
    Mismatch mismatch_;       ///< of the job in front, so far
};

}  // namespace gradstorm::memory
