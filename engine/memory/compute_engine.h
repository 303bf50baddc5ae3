// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/data_type.h"
#include "engine/memory/pattern.h"

#include <cstddef>
#include <cstdint>
#include <span>

/// Sums, copies, fills and checks of buffers, asynchronously: on the host or, later, on a GPU.
namespace gradstorm::memory {

enum class ComputeKind : std::uint8_t {
    sum,     ///< to = a + b
    copy,    ///< to = a
    fill,    ///< to = pattern
    verify,  ///< compares a with the pattern
};

/// Addresses are integers, since a GPU's are no pointers of the host. Ranges must stay as they are until the job has
/// completed; `to` may be `a` or `b`.
struct ComputeJob {
    std::uint64_t id = 0;  ///< comes back in the completion
    ComputeKind kind = ComputeKind::copy;
    measure::DataType type = measure::DataType::float32;
    std::uint64_t to = 0;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t length = 0;          ///< bytes, whole elements; 0 is legal
    const Pattern* pattern = nullptr;  ///< fill, verify; outlives the job
    std::uint64_t phase = 0;           ///< byte of the pattern where the range starts
};

struct ComputeCompletion {
    std::uint64_t id = 0;
    Mismatch mismatch;  ///< of verify
};

/// Belongs to one worker; no call blocks, throws, allocates or logs. Jobs run and complete in the order of submit().
class ComputeEngine {
public:
    ComputeEngine() = default;
    ComputeEngine(const ComputeEngine&) = delete;
    ComputeEngine& operator=(const ComputeEngine&) = delete;
    virtual ~ComputeEngine() = default;

    /// False: full; try again after a poll().
    [[nodiscard]] virtual bool submit(const ComputeJob& job) = 0;
    /// Works on for a short while, fills a prefix of `out` with what has completed and returns its length.
    virtual std::size_t poll(std::span<ComputeCompletion> out) = 0;
    /// Whether jobs are unfinished or completions not fetched.
    [[nodiscard]] virtual bool busy() const = 0;
};

}  // namespace gradstorm::memory
