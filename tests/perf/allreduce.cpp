// SPDX-License-Identifier: Apache-2.0
// What a whole all-reduce costs: schedule, executors, credits, software HCA and embedded fabric together, two ranks on
// a core each.
#include "engine/app/run_execution.h"
#include "engine/transport/dpdk/eal.h"
#include "profiles/diagnostics.h"
#include "profiles/parse.h"
#include "tests/perf/net_ring_anchor.h"
#include "tests/perf/perf_line.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace gradstorm::perf {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 64U << 20U;
constexpr std::size_t kFrameBytes = 54 + 4096 + 4;
constexpr std::size_t kRounds = 7;

constexpr const char* kProfile = R"(
format = 1
[run]
repetitions = 1
warmup = 2
iterations = {}
check = "none"
[cluster]
nodes = 2
[[job]]
name = "allreduce"
calls = [{{op = "all_reduce", bytes = "64MiB"}}]
[library]
fidelity = "{}"
chunk = "64KiB"
slots = 4
[transport]
payload = "{}"
workers = 2
idle = "spin"
)";

app::Subject subject_of(std::uint32_t iterations, const char* fidelity, const char* payload) {
    auto profile = profiles::parse_profile("perf", fmt::format(kProfile, iterations, fidelity, payload));
    if (!profile) throw std::runtime_error(profiles::to_string(profile.error()));
    auto workload = workload::from_profile(*profile);
    if (!workload) throw std::runtime_error(workload.error().message);
    auto plan = plan::make_plan(*workload, app::assumptions_of(*profile), *profile);
    if (!plan) throw std::runtime_error(plan.error().message);
    return {std::move(*profile), std::move(*workload), std::move(*plan)};
}

struct Measured {
    double seconds = 0;         ///< all iterations, slowest rank
    std::uint64_t frames = 0;   ///< data frames of one direction
    std::uint64_t payload = 0;  ///< bytes of both directions
};

Measured measure(const app::Subject& subject) {
    app::RunRequest request;
    request.subject = &subject;
    const auto run = app::run_in_real_time(request);
    if (!run) throw std::runtime_error(run.error().message);
    const measure::RunResult& result = run->result;
    if (result.measurements.empty() || result.ports.size() != 2 ||
        result.measurements[0].calls[0].completion_ns.empty()) {
        throw std::runtime_error(result.reason);
    }
    const auto& times = result.measurements[0].calls[0].completion_ns[0];
    const auto total = std::accumulate(times.begin(), times.end(), std::int64_t{0});
    return {static_cast<double>(total) / 1e9, result.ports[0].data_frames,
            result.ports[0].payload_bytes + result.ports[1].payload_bytes};
}

std::vector<Round> frames_against_net_ring() {
    if (auto started = transport::dpdk::start_eal({.memory_mb = 256}); !started) {
        throw std::runtime_error(started.error().message);
    }
    const app::Subject subject = subject_of(20, "bytes", "synthetic");
    const auto ours = [&] {
        const Measured measured = measure(subject);
        return static_cast<double>(measured.frames) / measured.seconds / 1e6;
    };
    return interleave(kRounds, ours, [] { return net_ring_mpps(200ms, kFrameBytes); });
}

/// memcpy of 64 MiB from one buffer to another, 4 KiB at a time; GB/s.
double memcpy_rate(std::vector<std::byte>& to, const std::vector<std::byte>& from) {
    constexpr std::size_t kBlock = 4096;
    constexpr int kTimes = 8;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) {
        for (std::size_t at = 0; at < kBytes; at += kBlock) std::memcpy(to.data() + at, from.data() + at, kBlock);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    return kTimes * static_cast<double>(kBytes) / time.count() / 1e9;
}

std::vector<Round> bytes_against_memcpy() {
    const app::Subject subject = subject_of(5, "messages", "memory");
    std::vector<std::byte> from(kBytes, std::byte{1});
    std::vector<std::byte> to(kBytes, std::byte{2});
    const auto ours = [&] {
        const Measured measured = measure(subject);
        return static_cast<double>(measured.payload) / measured.seconds / 1e9;
    };
    return interleave(kRounds, ours, [&] { return memcpy_rate(to, from); });
}

}  // namespace
}  // namespace gradstorm::perf

int main(int argc, char** argv) {
    using namespace gradstorm::perf;
    return run(argc, argv,
               {{"embedded-allreduce", "Mframe/s", frames_against_net_ring},
                {"memory-allreduce", "GB/s", bytes_against_memcpy}});
}
