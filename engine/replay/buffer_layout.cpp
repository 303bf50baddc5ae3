// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/buffer_layout.h"

#include <algorithm>
#include <utility>

namespace gradstorm::replay {

namespace {

std::uint64_t aligned(std::uint64_t value) {
    return (value + BufferLayout::kAlignment - 1) / BufferLayout::kAlignment * BufferLayout::kAlignment;
}

}  // namespace

std::optional<std::uint32_t> local_rank(const std::vector<std::uint32_t>& group, std::uint32_t rank) {
    const auto found = std::find(group.begin(), group.end(), rank);
    if (found == group.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - group.begin());
}

const BufferLayout::RankLayout& BufferLayout::of(std::uint32_t rank) {
    const auto known = ranks_.find(rank);
    if (known != ranks_.end()) return known->second;

    RankLayout layout;
    std::size_t jobs = 0;
    for (const auto& measurement : workload_->measurements) {
        jobs = std::max(jobs, measurement.jobs.size());
        layout.offsets.emplace_back(measurement.jobs.size());
    }
    for (std::size_t job = 0; job < jobs; ++job) {
        const std::uint64_t start = layout.length;
        for (std::size_t m = 0; m < workload_->measurements.size(); ++m) {
            if (job >= workload_->measurements[m].jobs.size()) continue;
            std::uint64_t at = start;
            for (const workload::PlannedCall& planned : workload_->measurements[m].jobs[job].calls) {
                CallBuffers& buffers = layout.offsets[m][job].emplace_back();
                const auto local = local_rank(planned.group, rank);
                if (!local) continue;
                const collective::BufferSizes sizes = collective::buffer_sizes(planned.call, *local);
                const auto place = [&at](Bytes size) { return std::exchange(at, at + aligned(size.value)); };
                buffers = {place(sizes.source), place(sizes.result), place(sizes.work)};
            }
            layout.length = std::max(layout.length, at);
        }
    }
    return ranks_.emplace(rank, std::move(layout)).first->second;
}

CallBuffers BufferLayout::offsets(std::uint32_t measurement, std::uint32_t job, std::uint32_t call,
                                  std::uint32_t rank) {
    return of(rank).offsets[measurement][job][call];
}

std::uint64_t BufferLayout::length(std::uint32_t rank) { return of(rank).length; }

}  // namespace gradstorm::replay
