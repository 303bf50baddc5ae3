// SPDX-License-Identifier: Apache-2.0
#include "profiles/consistency.h"
#include "profiles/element_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace gradstorm::profiles {
namespace {

/// One call with what its checks need to know of the rest.
struct CallScope {
    const Section& call;
    std::optional<std::uint64_t> ranks;  ///< of the cluster
    Diagnostics& mistakes;

    void report_at(std::string_view key, std::string message) const { report(call, key, std::move(message), mistakes); }

    [[nodiscard]] std::optional<std::uint64_t> members() const {
        if (!call.sound("group")) {
            return std::nullopt;
        }
        return call.given("group") ? call.get<Integers>("group").size() : ranks;
    }
};

void check_size(const CallScope& scope) {
    const Section& call = scope.call;
    const Branch& sweep = call.branch("sweep");
    const int sizes = int{call.given("elements")} + int{call.given("bytes")} + int{sweep.given};
    if (sizes > 1 || (sizes == 0 && call.misspelt().empty())) {
        const char* what = sizes == 0 ? "has no size" : "has more than one size";
        scope.mistakes.push_back(mistake_at(
            call.place(), fmt::format("{} {}: give exactly one of elements, bytes and sweep", call.path(), what)));
    }
    if (!call.sound("dtype")) {
        return;
    }
    const std::string dtype = call.text("dtype");
    const std::uint64_t size = element_size(dtype);
    if (size == 0) {
        return;
    }
    if (call.given("bytes") && call.sound("bytes") && call.number("bytes") % size != 0) {
        scope.report_at("bytes", fmt::format("{} is no whole number of {} elements of {} bytes",
                                             format_quantity(call.number("bytes"), Dimension::size), dtype, size));
    }
    for (const Section& range : sweep.sections) {
        const bool complete = range.holds("from") && range.holds("to");
        if (!complete || !range.sound("from") || !range.sound("to")) {
            continue;
        }
        if (range.number("from") > range.number("to")) {
            report(range, "to", "the sweep ends below its first size", scope.mistakes);
        }
        if (range.number("from") % size != 0) {
            report(range, "from",
                   fmt::format("sizes of the sweep are no whole number of {} elements of {} bytes", dtype, size),
                   scope.mistakes);
        }
    }
}

void check_group(const CallScope& scope) {
    if (!scope.call.given("group") || !scope.call.sound("group")) {
        return;
    }
    const auto group = scope.call.get<Integers>("group");
    if (group.size() < 2) {
        scope.report_at("group", "a group needs at least 2 ranks");
    }
    std::set<std::uint64_t> seen;
    for (const std::uint64_t rank : group) {
        if (!seen.insert(rank).second) {
            return scope.report_at("group", fmt::format("rank {} is in the group twice", rank));
        }
        if (scope.ranks && rank >= *scope.ranks) {
            return scope.report_at("group", fmt::format("rank {} is outside the cluster, which has ranks 0 to {}", rank,
                                                        *scope.ranks - 1));
        }
    }
}

/// Keys that only one kind of call understands.
void check_place(const CallScope& scope, std::string_view key, std::string_view op) {
    const Section& call = scope.call;
    if (!call.given(key) || !call.sound(key)) {
        return;
    }
    if (call.sound("op") && call.given("op") && call.text("op") != op) {
        return scope.report_at(key,
                               fmt::format("'{}' has a meaning for {} only, not for {}", key, op, call.text("op")));
    }
    const auto members = scope.members();
    if (members && call.number(key) >= *members) {
        scope.report_at(key, fmt::format("'{}' must be below {}, the number of ranks that take part, not {}", key,
                                         *members, call.number(key)));
    }
}

void check_pair(const CallScope& scope) {
    const Section& call = scope.call;
    if (call.given("from") != call.given("to")) {
        const bool from = call.given("from");
        return scope.report_at(from ? "from" : "to",
                               fmt::format("'{}' needs '{}' too", from ? "from" : "to", from ? "to" : "from"));
    }
    const bool pair = call.given("from") && call.sound("from") && call.sound("to");
    if (pair && call.number("from") == call.number("to")) {
        scope.report_at("to", fmt::format("rank {} cannot send to itself", call.number("to")));
    }
}

void check_sums(const CallScope& scope, bool memory) {
    const Section& call = scope.call;
    const std::string op = call.text("op");
    const std::string dtype = call.text("dtype");
    const bool sums = op == "all_reduce" || op == "reduce_scatter";
    if (memory && sums && call.sound("dtype") && !dtype.empty() && dtype != "float32" && dtype != "bfloat16") {
        scope.report_at(
            "dtype", fmt::format("payload 'memory' sums float32 and bfloat16, not {}; use payload 'synthetic'", dtype));
    }
}

void check_model(const Section& job, std::optional<std::uint64_t> ranks, Diagnostics& mistakes) {
    if (!job.given("model")) {
        for (const std::string_view key : {"sequence", "micro_batches", "prefetch"}) {
            if (job.given(key)) {
                report(job, key, fmt::format("'{}' has no meaning without 'model'", key), mistakes);
            }
        }
        for (const std::string_view key : {"parallelism", "compute"}) {
            const Branch& branch = job.branch(key);
            if (branch.given) {
                mistakes.push_back(mistake_at(branch.place, fmt::format("'{}' has no meaning without 'model'", key)));
            }
        }
        return;
    }
    for (const Section& degrees : job.branch("parallelism").sections) {
        std::uint64_t product = 1;
        for (const std::string_view key : {"dp", "fsdp", "tp", "pp", "cp"}) {
            // Beyond the largest cluster nothing divides any more: stop before it overflows.
            if (degrees.given(key) && product <= ranks.value_or(0)) {
                product *= std::max<std::uint64_t>(1, degrees.number(key));
            }
        }
        if (ranks && *ranks % product != 0) {
            mistakes.push_back(mistake_at(
                degrees.place(),
                fmt::format("dp x fsdp x tp x pp x cp is {}, which does not divide the {} ranks", product, *ranks)));
        }
    }
}

void check_content(const Section& job, Diagnostics& mistakes) {
    const Branch& calls = job.branch("calls");
    if (calls.faulty) {
        return;
    }
    if (job.given("model") && calls.given) {
        mistakes.push_back(mistake_at(calls.place, "'calls' and 'model' exclude each other"));
    } else if (!job.given("model") && calls.sections.empty() && job.misspelt().empty()) {
        mistakes.push_back(mistake_at(calls.given ? calls.place : job.place(),
                                      fmt::format("{} sends nothing: give 'calls' or 'model'", job.path())));
    }
}

void check_sweeps(const Section& job, bool alone, Diagnostics& mistakes) {
    bool first = true;
    for (const Section& call : job.branch("calls").sections) {
        const Branch& sweep = call.branch("sweep");
        if (!sweep.given) {
            continue;
        }
        if (!first) {
            mistakes.push_back(mistake_at(sweep.place, "a job may hold one sweep only"));
        }
        if (first && !alone) {
            mistakes.push_back(
                mistake_at(sweep.place, "a sweep needs the run for itself: a profile with a sweep has one [[job]]"));
        }
        first = false;
    }
}

}  // namespace

void check_jobs(const Section& root, Diagnostics& mistakes) {
    check_names_differ(root, "job", mistakes);
    const auto ranks = sound_ranks(root);
    const bool memory = only(root, "transport").text("payload") == "memory";
    const auto& jobs = root.branch("job").sections;
    for (const Section& job : jobs) {
        check_content(job, mistakes);
        check_model(job, ranks, mistakes);
        check_sweeps(job, jobs.size() == 1, mistakes);
        for (const Section& call : job.branch("calls").sections) {
            const CallScope scope{call, ranks, mistakes};
            check_size(scope);
            check_group(scope);
            check_place(scope, "root", "broadcast");
            check_place(scope, "from", "send_receive");
            check_place(scope, "to", "send_receive");
            check_pair(scope);
            check_sums(scope, memory);
        }
    }
}

}  // namespace gradstorm::profiles
