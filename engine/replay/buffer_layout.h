// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/program.h"
#include "engine/workload/workload.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gradstorm::replay {

/// Where the buffers of every call lie in the arena of every rank: a pure function of the workload, so that a sender
/// knows the places at its peers without being told. Jobs run at the same time and lie side by side; the measurements
/// of a job follow each other and share its part; the calls of an iteration have a place each, so that results are
/// there to be checked when the iteration has ended.
class BufferLayout {
public:
    static constexpr std::uint64_t kAlignment = 64;

    /// The workload must outlive the layout.
    explicit BufferLayout(const workload::Workload& workload) : workload_(&workload) {}

    /// Offsets in the arena of `rank`, which is in the call's group.
    [[nodiscard]] CallBuffers offsets(std::uint32_t measurement, std::uint32_t job, std::uint32_t call,
                                      std::uint32_t rank);
    /// Bytes of all buffers of the rank.
    [[nodiscard]] std::uint64_t length(std::uint32_t rank);

private:
    struct RankLayout {
        std::vector<std::vector<std::vector<CallBuffers>>> offsets;  ///< by measurement, job, call
        std::uint64_t length = 0;
    };
    const RankLayout& of(std::uint32_t rank);

    const workload::Workload* workload_;
    std::map<std::uint32_t, RankLayout> ranks_;
};

/// The group-local number of `rank` in the group, or empty.
[[nodiscard]] std::optional<std::uint32_t> local_rank(const std::vector<std::uint32_t>& group, std::uint32_t rank);

}  // namespace gradstorm::replay
