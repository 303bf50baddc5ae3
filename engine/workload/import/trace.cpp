// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/import/trace.h"

#include "engine/workload/call_builder.h"
#include "engine/workload/import/gunzip.h"
#include "engine/workload/import/iterations.h"
#include "engine/workload/import/param_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradstorm::workload {

namespace {

/// More than any trace of one rank that is of use here; keeps a crafted file from filling the memory.
constexpr std::size_t kMaxTraceBytes = std::size_t{1} << 31U;

std::vector<std::string> losses_of(const RecordedTrace& recorded) {
    if (recorded.calls.empty()) {
        return {fmt::format("no communication in the {} nodes of the trace (schema {}), there is nothing to replay",
                            recorded.nodes, recorded.schema)};
    }
    std::vector<std::string> losses{"the trace holds no times, calls follow each other without compute gaps"};
    const bool partial = std::any_of(recorded.calls.begin(), recorded.calls.end(), [&](const TraceCall& call) {
        return recorded.groups[call.group].ranks.size() < recorded.ranks;
    });
    if (partial) {
        losses.emplace_back("the trace is of one rank, calls of groups without that rank are unknown and left out");
    }
    return losses;
}

}  // namespace

bool looks_like_trace(std::string_view text) {
    if (is_gzip(text)) return true;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

Result<ImportedTrace> import_trace(const std::string& path, std::string_view text) {
    std::string unpacked;
    if (is_gzip(text)) {
        auto content = gunzip(text, kMaxTraceBytes);
        if (!content) return failure(content.error().code, fmt::format("{}: {}", path, content.error().message));
        unpacked = std::move(*content);
        text = unpacked;
    }
    auto recorded = read_param_trace(path, text);
    if (!recorded) return tl::unexpected(recorded.error());

    ChosenIteration chosen = choose_iteration(*recorded);
    ImportedTrace trace;
    trace.path = path;
    trace.schema = recorded->schema;
    trace.ranks = recorded->ranks;
    for (const auto& warnings : {recorded->warnings, chosen.warnings, losses_of(*recorded)}) {
        for (const std::string& warning : warnings) trace.warnings.push_back(fmt::format("{}: {}", path, warning));
    }
    trace.groups = std::move(recorded->groups);
    trace.calls = std::move(chosen.calls);
    trace.recorded_iterations = chosen.recorded;
    return trace;
}

Result<Workload> workload_from_trace(const ImportedTrace& trace, const profiles::Profile& settings) {
    Workload workload;
    workload.ranks = trace.ranks;
    workload.warnings = trace.warnings;
    if (trace.calls.empty()) return workload;
    auto builder = CallBuilder::make(settings.library, trace.ranks);
    if (!builder) return failure(builder.error().code, fmt::format("{}: {}", settings.path, builder.error().message));
    JobIteration job;
    job.name = "trace";
    for (const TraceCall& recorded : trace.calls) {
        const collective::Call call{
            .kind = recorded.kind, .type = recorded.type, .bytes = recorded.bytes, .root = recorded.root};
        auto planned = builder->build(call, trace.groups.at(recorded.group).ranks, Nanoseconds{0});
        if (!planned) {
            return failure(planned.error().code,
                           fmt::format("{}: node {}: {}", trace.path, recorded.node, planned.error().message));
        }
        planned->label = fmt::format("{}[{}]", job.name, job.calls.size());
        job.calls.push_back(std::move(*planned));
    }
    Measurement measurement;
    measurement.label = job.name;
    measurement.jobs.push_back(std::move(job));
    workload.measurements.push_back(std::move(measurement));
    return workload;
}

}  // namespace gradstorm::workload
