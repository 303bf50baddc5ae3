// SPDX-License-Identifier: Apache-2.0
#include "engine/app/subject.h"

#include "engine/workload/import/trace.h"
#include "profiles/catalog.h"
#include "profiles/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradstorm::app {

namespace {

using LoadedSubject = tl::expected<Subject, std::string>;

/// What a trace runs with where no option says otherwise: the schema's defaults, a rank a node.
constexpr std::string_view kTraceProfile = "format = 1\n";

/// A trace by its name, or a file that begins like one.
bool is_trace(const std::string& subject) {
    if (subject.ends_with(".json") || subject.ends_with(".json.gz")) return true;
    std::error_code none;
    if (!std::filesystem::is_regular_file(subject, none)) return false;  // a pipe can be read only once
    std::ifstream file(subject, std::ios::binary);
    std::array<char, 64> head{};
    file.read(head.data(), head.size());
    return workload::looks_like_trace({head.data(), static_cast<std::size_t>(file.gcount())});
}

Result<std::string> read_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    if (file) content << file.rdbuf();
    if (!file || file.bad()) {
        return failure(ErrorCode::invalid_input, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    }
    return content.str();
}

LoadedSubject planned(profiles::Profile profile, workload::Workload workload) {
    auto plan = plan::make_plan(workload, assumptions_of(profile), profile);
    if (!plan) return tl::unexpected(plan.error().message);
    return Subject{std::move(profile), std::move(workload), std::move(*plan)};
}

LoadedSubject load_trace(const SubjectOptions& options) {
    const auto content = read_file(options.subject);
    if (!content) return tl::unexpected(content.error().message);
    const auto trace = workload::import_trace(options.subject, *content);
    if (!trace) return tl::unexpected(trace.error().message);
    profiles::ParseOptions parse = parse_options(options);
    parse.needs_traffic = false;
    // A trace without communication names no ranks; two will do for nothing.
    const std::uint32_t ranks = std::max(trace->ranks, 2U);
    parse.overrides.insert(parse.overrides.begin(), fmt::format("cluster.nodes={}", ranks));
    auto profile = profiles::parse_profile(options.subject, kTraceProfile, parse);
    if (!profile) return tl::unexpected(profiles::to_string(profile.error()));
    auto workload = workload::workload_from_trace(*trace, *profile);
    if (!workload) return tl::unexpected(workload.error().message);
    return planned(std::move(*profile), std::move(*workload));
}

}  // namespace

Result<void> supported(const profiles::Profile& profile) {
    const auto refuse = [&](const std::string& why) {
        return failure(ErrorCode::unsupported, fmt::format("{}: {}", profile.path, why));
    };
    if (profile.criteria > 0) {
        return refuse(
            fmt::format("[[criterion]]: this version judges no criteria, and what is not judged cannot pass; "
                        "remove the {} [[criterion]] table(s)",
                        profile.criteria));
    }
    const profiles::TransportSettings& transport = profile.transport;
    if (transport.engine != "dpdk") {
        return refuse(fmt::format("transport.engine = \"{}\" is not in this version; use \"dpdk\"", transport.engine));
    }
    if (transport.memory != "host") {
        return refuse(fmt::format("transport.memory = \"{}\" is not in this version; use \"host\"", transport.memory));
    }
    return {};
}

profiles::ParseOptions parse_options(const SubjectOptions& options) {
    return {.overrides = options.set, .testbed = options.testbed, .dut_file = options.dut_file, .dut = options.dut};
}

plan::Assumptions assumptions_of(const profiles::Profile& profile) {
    plan::Assumptions assumptions;
    assumptions.path_mtu = profile.transport.path_mtu;
    assumptions.ipv6 = std::ranges::any_of(
        profile.ports, [](const profiles::PortSettings& port) { return port.address.find(':') != std::string::npos; });
    assumptions.step_latency = profile.transport.step_latency;
    if (profile.transport.line_rate.value > 0) assumptions.line_rate = profile.transport.line_rate;
    return assumptions;
}

LoadedSubject load_subject(const SubjectOptions& options) {
    if (is_trace(options.subject)) return load_trace(options);
    auto profile = profiles::load_profile(options.subject, parse_options(options));
    if (!profile) return tl::unexpected(profiles::to_string(profile.error()));
    auto workload = workload::from_profile(*profile);
    if (!workload) return tl::unexpected(workload.error().message);
    return planned(std::move(*profile), std::move(*workload));
}

}  // namespace gradstorm::app
