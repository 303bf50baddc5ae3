// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/host_buffer.h"
#include "engine/memory/host_compute.h"
#include "engine/memory/null_compute.h"
#include "engine/replay/buffer_layout.h"
#include "engine/replay/connection_plan.h"
#include "engine/replay/pattern_book.h"
#include "engine/replay/session.h"

#include <map>
#include <memory>
#include <vector>

namespace gradstorm::replay {

/// The memory of one rank of this process: data buffers, then landing slots.
struct Arena {
    memory::HostBuffer buffer;  ///< empty: synthetic
    transport::MemoryRegion region;
};

/// Everything that a session holds from create() to its end. Internal to the session's files.
struct Session::State {
    SessionOptions options;
    Surroundings around;
    ScheduleBook schedules;
    std::unique_ptr<BufferLayout> layout;
    std::unique_ptr<PatternBook> patterns;
    std::map<std::uint32_t, Arena> arenas;  ///< by rank
    std::vector<std::unique_ptr<memory::ComputeEngine>> compute;
    std::map<std::uint32_t, std::unique_ptr<Activity>> activities;  ///< by rank
    std::map<std::uint32_t, std::string> port_names;                ///< by rank: the address of its HCA
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<std::unique_ptr<measure::Histogram>> latency;  ///< by worker, of the segment under way
    std::vector<Segment> segments;
    SessionReport report;

    [[nodiscard]] bool is_local(std::uint32_t rank) const {
        return options.ranks[rank].node == around.rendezvous->node();
    }
    [[nodiscard]] const workload::Workload& workload() const { return *around.workload; }
};

}  // namespace gradstorm::replay
