// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/workload.h"

#include "engine/workload/call_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace gradstorm::workload {

namespace {

Result<void> refuse_unsupported(const profiles::Profile& profile) {
    if (profile.flows > 0) {
        return failure(ErrorCode::unsupported,
                       fmt::format("{}: [[flow]]: this version replays jobs only, remove the {} [[flow]] table(s)",
                                   profile.path, profile.flows));
    }
    for (const profiles::JobSettings& job : profile.jobs) {
        if (job.model.empty()) continue;
        return failure(ErrorCode::unsupported,
                       fmt::format("{}: job \"{}\": model \"{}\": this version takes listed calls only, give the job a "
                                   "list `calls`",
                                   profile.path, job.name, job.model));
    }
    return {};
}

/// The calls of one job as they stand in the profile; a sweep is several calls.
struct ExpandedCall {
    std::vector<PlannedCall> sizes;  ///< one, or one a size of the sweep
    bool sweep = false;
};

struct ExpandedJob {
    JobIteration job;  ///< without its calls
    std::vector<ExpandedCall> calls;
    [[nodiscard]] bool sweeps() const {
        return std::any_of(calls.begin(), calls.end(), [](const ExpandedCall& call) { return call.sweep; });
    }
};

Result<std::vector<Bytes>> sizes_of(const profiles::CallSettings& call, measure::CollectiveKind kind,
                                    measure::DataType type) {
    const std::uint64_t element = measure::size_of(type);
    if (call.elements) {
        if (*call.elements > std::numeric_limits<std::uint64_t>::max() / element) {
            return failure(ErrorCode::invalid_input,
                           fmt::format("elements = {}: more bytes than 2^64", *call.elements));
        }
        return std::vector{Bytes{*call.elements * element}};
    }
    if (call.bytes) return std::vector{*call.bytes};
    if (!call.sweep) {
        if (kind == measure::CollectiveKind::barrier) return std::vector{Bytes{}};
        return failure(ErrorCode::invalid_input, "no size: give one of elements, bytes and sweep");
    }
    const profiles::SizeSweep& sweep = *call.sweep;
    if (sweep.factor < 2 || sweep.from.value == 0 || sweep.to < sweep.from) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("sweep from {} to {} times {}: it takes from >= 1 B, to >= from and a factor >= 2",
                                   size_text(sweep.from), size_text(sweep.to), sweep.factor));
    }
    std::vector<Bytes> sizes;
    for (std::uint64_t size = sweep.from.value;; size *= sweep.factor) {
        sizes.push_back(Bytes{size});
        if (size > sweep.to.value / sweep.factor) return sizes;
    }
}

Result<ExpandedCall> expand(const profiles::CallSettings& settings, const profiles::JobSettings& job,
                            const CallBuilder& builder) {
    const auto kind = measure::parse_collective_kind(settings.op);
    if (!kind) return failure(ErrorCode::invalid_input, fmt::format("op \"{}\" is no collective", settings.op));
    const std::string& dtype = settings.dtype.empty() ? job.dtype : settings.dtype;
    const auto type = measure::parse_data_type(dtype);
    if (!type) return failure(ErrorCode::invalid_input, fmt::format("dtype \"{}\" is no element type", dtype));
    auto sizes = sizes_of(settings, *kind, *type);
    if (!sizes) return tl::unexpected(sizes.error());
    if (settings.from.has_value() != settings.to.has_value()) {
        return failure(ErrorCode::invalid_input, "from and to come as a pair, give both or none");
    }
    if (settings.from && *settings.from == *settings.to) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("from = to = {}: a rank sends nothing to itself", *settings.to));
    }
    ExpandedCall expanded;
    expanded.sweep = settings.sweep.has_value();
    for (const Bytes size : *sizes) {
        collective::Call call{.kind = *kind,
                              .type = *type,
                              .bytes = size,
                              .root = settings.root,
                              .from = settings.from.value_or(0),
                              .to = settings.to.value_or(0)};
        auto planned = builder.build(call, settings.group, settings.gap);
        if (!planned) return tl::unexpected(planned.error());
        expanded.sizes.push_back(std::move(*planned));
    }
    return expanded;
}

Result<ExpandedJob> expand(const profiles::JobSettings& job, const CallBuilder& builder, const std::string& path) {
    ExpandedJob expanded;
    expanded.job = {.name = job.name, .overlap = job.overlap, .calls = {}};
    for (std::size_t index = 0; index < job.calls.size(); ++index) {
        const std::string label = fmt::format("{}[{}]", job.name, index);
        auto call = expand(job.calls[index], job, builder);
        if (!call) return failure(call.error().code, fmt::format("{}: {}: {}", path, label, call.error().message));
        for (PlannedCall& planned : call->sizes) planned.label = label;
        expanded.calls.push_back(std::move(*call));
    }
    return expanded;
}

JobIteration whole_iteration(const ExpandedJob& job) {
    JobIteration iteration = job.job;
    for (const ExpandedCall& call : job.calls) iteration.calls.push_back(call.sizes.front());
    return iteration;
}

/// One measurement of all jobs together; or, where one job sweeps, one for each of its calls and sizes, with whole
/// iterations of the other jobs beside it.
std::vector<Measurement> measurements_of(const std::vector<ExpandedJob>& jobs) {
    const auto sweeping = std::find_if(jobs.begin(), jobs.end(), [](const ExpandedJob& job) { return job.sweeps(); });
    std::vector<Measurement> measurements;
    if (sweeping == jobs.end()) {
        Measurement all;
        std::vector<std::string> names;
        for (const ExpandedJob& job : jobs) {
            all.jobs.push_back(whole_iteration(job));
            names.push_back(job.job.name);
        }
        all.label = fmt::format("{}", fmt::join(names, "+"));
        measurements.push_back(std::move(all));
        return measurements;
    }
    for (const ExpandedCall& call : sweeping->calls) {
        for (const PlannedCall& planned : call.sizes) {
            Measurement one;
            one.label = fmt::format("{} {} {}", measure::to_string(planned.call.kind),
                                    measure::to_string(planned.call.type), size_text(planned.call.bytes));
            for (const ExpandedJob& job : jobs) {
                one.jobs.push_back(&job == &*sweeping ? job.job : whole_iteration(job));
                if (&job == &*sweeping) one.jobs.back().calls = {planned};
            }
            measurements.push_back(std::move(one));
        }
    }
    return measurements;
}

}  // namespace

Result<Workload> from_profile(const profiles::Profile& profile) {
    if (auto fine = refuse_unsupported(profile); !fine) return tl::unexpected(fine.error());
    auto builder = CallBuilder::make(profile.library, profile.cluster.ranks());
    if (!builder) return failure(builder.error().code, fmt::format("{}: {}", profile.path, builder.error().message));
    std::vector<ExpandedJob> jobs;
    for (const profiles::JobSettings& job : profile.jobs) {
        if (job.calls.empty()) {
            return failure(
                ErrorCode::invalid_input,
                fmt::format("{}: job \"{}\" makes no calls, give it a list `calls`", profile.path, job.name));
        }
        auto expanded = expand(job, *builder, profile.path);
        if (!expanded) return tl::unexpected(expanded.error());
        jobs.push_back(std::move(*expanded));
    }
    if (jobs.empty()) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("{}: nothing to run, describe a job in a [[job]] table", profile.path));
    }
    if (std::count_if(jobs.begin(), jobs.end(), [](const ExpandedJob& job) { return job.sweeps(); }) > 1) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("{}: more than one job sweeps sizes, keep one sweeping job a run", profile.path));
    }
    Workload workload;
    workload.ranks = profile.cluster.ranks();
    workload.measurements = measurements_of(jobs);
    return workload;
}

}  // namespace gradstorm::workload
