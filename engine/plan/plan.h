// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "engine/workload/workload.h"
#include "profiles/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a run will do, computed without touching hardware: bytes, steps, ideal times, ceilings.
namespace gradstorm::plan {

/// What the ideal time rests on. Both parts are stated with every result.
struct Assumptions {
    std::optional<BitsPerSecond> line_rate;  ///< of each rank's port; empty: unknown
    std::uint32_t path_mtu = 4096;
    bool ipv6 = false;
    bool vlan = false;
    Nanoseconds step_latency{0};  ///< alpha
};

struct IdealTime {
    Nanoseconds alpha{0};  ///< steps x latency
    Nanoseconds beta{0};   ///< bytes / (line rate x goodput fraction)
    std::string bound;     ///< which of both is larger and what it rests on, for people
    [[nodiscard]] Nanoseconds total() const { return alpha + beta; }
};

struct CallPlan {
    std::string label;
    std::string algorithm;
    collective::Call call;
    collective::Totals largest;      ///< of the rank that sends most
    Bytes total_sent{};              ///< over all ranks
    Bytes wire_bytes_per_rank{};     ///< of the rank that sends most: data frames with all headers, FCS, preamble, gap
    std::optional<IdealTime> ideal;  ///< empty: line rate unknown
};

struct MeasurementPlan {
    std::string label;
    std::vector<CallPlan> calls;
    Bytes sent_per_rank{};            ///< payload of one iteration, of the rank that sends most
    Nanoseconds declared_compute{0};  ///< sum of the gaps of the longest job
};

struct Plan {
    std::uint32_t ranks = 0;
    std::vector<MeasurementPlan> measurements;
    std::string schedule_hash;  ///< SHA-256 over the resolved generator inputs and the generator's version
};

/// The version of what generates schedules. Counts up whenever the same inputs give other messages, or other orders of
/// them; part of every schedule hash.
inline constexpr std::uint32_t kGeneratorVersion = 1;

/// Ideal time of one call by the alpha-beta model (kpi-and-tests.md, K3), from its schedule's own totals: the bytes of
/// the busiest direction of the busiest rank at line rate x goodput fraction, and its dependent steps at the step
/// latency. A pipelined broadcast counts its hops, not its pieces. Without a line rate beta is 0.
[[nodiscard]] IdealTime ideal_time(const collective::Schedule& schedule, const Assumptions& assumptions);

/// Plans every measurement. Cost: a few operations a call and channel, and one a rank and call; messages are never
/// enumerated. Refuses what make_schedule() refuses and an MTU that is none of RoCE's. Of the profile only what
/// schedule_hash() covers is read.
[[nodiscard]] Result<Plan> make_plan(const workload::Workload& workload, const Assumptions& assumptions,
                                     const profiles::Profile& profile);

/// The hash of Plan: equal hashes mean the same work requests and first-transmission frames in the same order on each
/// queue pair. It covers of every call its sizes, ranks, group, gap, channels, chunk, fidelity; of the assumptions path
/// MTU and IP version; of the profile seed, repetitions, warm-up, iterations, landing slots, payload mode and DSCP; not
/// names, nor where the run happens, nor what is checked, nor what ceilings are computed from.
[[nodiscard]] std::string schedule_hash(const workload::Workload& workload, const Assumptions& assumptions,
                                        const profiles::Profile& profile);

/// Payload bytes that each rank sends to each other one in one iteration.
struct TrafficMatrix {
    std::uint32_t ranks = 0;
    std::vector<std::uint64_t> bytes;  ///< row-major, from x to
    [[nodiscard]] std::uint64_t at(std::uint32_t from, std::uint32_t to) const {
        return bytes[std::size_t{from} * ranks + to];
    }
};

/// The largest number of ranks for which a matrix is made: 4,096 ranks are 128 MiB.
inline constexpr std::uint32_t kMaxMatrixRanks = 4096;
[[nodiscard]] Result<TrafficMatrix> traffic_matrix(const workload::Measurement& measurement, std::uint32_t ranks);

}  // namespace gradstorm::plan
