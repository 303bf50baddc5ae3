// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/data_type.h"
#include "engine/measure/histogram.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The complete record of one run, as plain values: made by engine/app, kept by storage, printed by storage/report.
/// A value that was not measured is an empty optional, never 0. Times are nanoseconds, sizes bytes.
namespace gradstorm::measure {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// Outcomes and their exit codes are defined in docs/architecture.md, section 6.
enum class Outcome : std::uint8_t { running, pass, fail, invalid, interrupted, not_measured, error };
[[nodiscard]] std::string_view to_string(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view text);
[[nodiscard]] int exit_code(Outcome outcome);

/// One call of a measurement, over all repetitions.
struct CallResult {
    std::string label;
    CollectiveKind kind = CollectiveKind::all_reduce;
    DataType type = DataType::float32;
    std::string algorithm;
    std::uint32_t ranks = 0;
    std::uint32_t root = 0;
    std::uint64_t bytes = 0;  ///< S as nccl-tests defines it
    std::int64_t ideal_ns = 0;
    std::string ideal_bound;  ///< "bandwidth: 8 B at 400 Gb/s ...", "latency: 14 steps ..."
    /// Completion time of each iteration (slowest rank), by repetition.
    std::vector<std::vector<std::int64_t>> completion_ns;
    std::optional<std::uint64_t> wrong_elements;  ///< empty: not checked
};

/// One measurement: what was repeated and timed as one thing.
struct MeasurementResult {
    std::string label;
    std::vector<CallResult> calls;
    /// Time of each whole iteration (slowest rank), compute gaps included, by repetition.
    std::vector<std::vector<std::int64_t>> iteration_ns;
    Histogram message_latency;  ///< post to acknowledgement of every data message, all ranks and repetitions
};

/// Totals of one HCA over the measured part of the run. Wire bytes count frames with FCS, preamble and gap.
struct PortResult {
    std::string name;
    std::uint32_t rank = 0;
    std::uint64_t data_frames = 0;
    std::uint64_t clear_to_send_frames = 0;
    std::uint64_t ack_frames = 0;
    std::uint64_t retransmitted_frames = 0;
    std::uint64_t cnp_frames = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t payload_bytes = 0;  ///< of data messages, each byte once
    std::uint64_t rx_wire_bytes = 0;
    std::uint64_t rx_payload_bytes = 0;
    std::uint64_t ecn_marked_frames = 0;
    std::uint64_t icrc_errors = 0;
    std::uint64_t out_of_order_frames = 0;
    std::uint64_t duplicate_frames = 0;
    std::uint64_t timeouts = 0;
    std::int64_t communicating_ns = 0;  ///< time in which the port's rank had a call in progress
};

struct RankResult {
    std::uint32_t rank = 0;
    std::uint32_t worker = 0;
    /// How much later than the first rank it finished an iteration: mean and largest.
    std::optional<std::int64_t> mean_lateness_ns;
    std::optional<std::int64_t> max_lateness_ns;
};

/// The generator's own account of itself (K36): did generator or network bind the run?
struct SelfCheck {
    std::optional<double> busy_share{};         ///< of a worker's time, in steps that did work; the largest of all
    std::optional<std::uint64_t> late_steps{};  ///< gaps between two steps of a worker above 100 us: stolen or starved
    std::optional<std::int64_t> longest_gap_ns{};
    std::optional<double> ring_high_water{};  ///< the fullest that a receive ring was found, 0 to 1
    std::uint64_t send_refusals = 0;          ///< bursts that found a full ring or queue and went later
    std::uint64_t lost_frames = 0;            ///< arrived at a port that could not take them: the generator's loss
    std::optional<double> clock_residual_ppm{};
    std::string clock;    ///< "tsc 2300.000 MHz", "clock_monotonic_raw (no invariant tsc)", "virtual"
    std::string verdict;  ///< one line: "ok", or how the generator bound the run
};

struct RunEvent {
    std::int64_t time_ns = 0;  ///< on the run's axis
    std::string kind;          ///< "warning", "fault", "stall", "outcome", ...
    std::string text;
};

struct RunResult {
    std::string uuid;
    std::string started_utc;  ///< ISO 8601; empty in virtual time
    std::string profile_name;
    std::string profile_text;
    std::string profile_sha256;
    std::string schedule_hash;
    std::string version;  ///< of gradstorm
    std::uint64_t seed = 0;
    std::uint32_t ranks = 0;
    std::uint32_t path_mtu = 0;
    bool ipv6 = false;
    std::string engine;                    ///< "dpdk, embedded fabric", ...
    std::string payload;                   ///< "synthetic", "memory"
    std::string fidelity;                  ///< "bytes", "messages"
    std::vector<std::string> disclosures;  ///< what was emulated or not modelled, one line each
    std::optional<double> line_rate_bits_per_s;
    Outcome outcome = Outcome::running;
    std::string reason;     ///< why the outcome is not pass
    KeyValues settings;     ///< resolved profile
    KeyValues environment;  ///< host, CPU, kernel, versions: an allow-list
    KeyValues dut;
    std::vector<MeasurementResult> measurements;
    std::vector<PortResult> ports;
    std::vector<RankResult> rank_results;
    SelfCheck self_check;
    std::vector<RunEvent> events;
};

}  // namespace gradstorm::measure
