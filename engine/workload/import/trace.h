// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/workload/workload.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Recorded traces of real jobs as workloads.
///
/// A trace is read for its collective calls only and becomes one iteration, which the run repeats:
///
/// - Iterations are told apart by the profiler's step markers; calls before the first one (set-up) are left out, with a
///   warning. Without markers, the shortest sequence of calls that the whole trace repeats is taken, and said; a trace
///   that repeats nothing is one iteration.
/// - Of the recorded iterations the first full one is replayed: the first with the largest number of calls (profilers
///   start and stop within iterations). When not all are equal, a warning names how many differ.
/// - What the trace does not say is not invented: it holds no times, so that calls follow each other without compute
///   gaps; it is of one rank, so that calls of groups without that rank are unknown. Both are warnings.
namespace gradstorm::workload {

/// A recorded collective call.
struct TraceCall {
    std::uint64_t node = 0;  ///< its id in the file, for messages to people
    measure::CollectiveKind kind = measure::CollectiveKind::all_reduce;
    measure::DataType type = measure::DataType::float32;
    Bytes bytes{};           ///< S as collective::Call defines it
    std::uint32_t root = 0;  ///< group-local
    std::size_t group = 0;   ///< index in the trace's groups

    /// The same traffic, wherever it stands in the file.
    [[nodiscard]] bool repeats(const TraceCall& other) const {
        return kind == other.kind && type == other.type && bytes == other.bytes && root == other.root &&
               group == other.group;
    }
};

/// A communicator of the trace. Ranks are those of the whole job.
struct TraceGroup {
    std::string name;
    std::vector<std::uint32_t> ranks;
};

struct ImportedTrace {
    std::string path;
    std::string schema;       ///< as the file names it
    std::uint32_t ranks = 0;  ///< of the job
    std::vector<TraceGroup> groups;
    std::vector<TraceCall> calls;           ///< of the iteration to replay, in order; empty: no communication recorded
    std::uint32_t recorded_iterations = 0;  ///< how many the trace held
    std::vector<std::string> warnings;      ///< one line each, beginning with the path
};

/// Whether a file that the user named is a trace rather than a profile: gzip, or text that begins a JSON object.
[[nodiscard]] bool looks_like_trace(std::string_view text);

/// Reads a PyTorch/PARAM execution trace, JSON or gzip of it. `path` is for messages. Errors name the path and the line
/// or node: unknown schema versions, missing attributes, unknown collectives or element types. A trace without
/// communication is no error: it has no calls and a warning that says so.
[[nodiscard]] Result<ImportedTrace> import_trace(const std::string& path, std::string_view text);

/// The trace as a workload: one measurement, one job, as many ranks as the trace. Channels, chunk and fidelity are
/// those of `settings`, whose jobs and cluster are not looked at. Warnings are handed on. No measurement where the
/// trace has no calls.
[[nodiscard]] Result<Workload> workload_from_trace(const ImportedTrace& trace, const profiles::Profile& settings);

}  // namespace gradstorm::workload
