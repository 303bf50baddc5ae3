// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/replay/connection.h"
#include "engine/workload/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gradstorm::replay {

/// The calls of one job in one measurement with their schedules; `barrier` separates checked iterations and is empty
/// where the job has fewer than two ranks.
struct ScheduledJob {
    std::vector<std::unique_ptr<const collective::Schedule>> calls;
    std::unique_ptr<const collective::Schedule> barrier;
    std::vector<std::uint32_t> ranks;  ///< of the run, ascending: the barrier's group
};
/// By measurement and job.
using ScheduleBook = std::vector<std::vector<ScheduledJob>>;

[[nodiscard]] Result<ScheduleBook> make_schedule_book(const workload::Workload& workload);

/// All connections that begin or end at one of `local` ranks, in one order on every process, and for each the bytes of
/// a landing slot; 0 where nothing lands in slots.
using ConnectionPlan = std::map<ConnectionName, std::uint64_t>;
[[nodiscard]] ConnectionPlan plan_connections(const workload::Workload& workload, const ScheduleBook& schedules,
                                              const std::set<std::uint32_t>& local);

/// One end of a connection, as its process tells the others.
struct ConnectionEnd {
    ConnectionName name;
    bool sender = false;
    transport::QueuePairAddress queue_pair;
    std::uint64_t arena = 0;  ///< address of the rank's buffers
    std::uint32_t remote_key = 0;
    LandingSlots slots;  ///< of the receiver
};
[[nodiscard]] std::string encode(const std::vector<ConnectionEnd>& ends);
[[nodiscard]] Result<std::vector<ConnectionEnd>> decode_connection_ends(const std::string& text);

}  // namespace gradstorm::replay
