// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/port_counters.h"
#include "engine/measure/run_result.h"

#include <cstdint>
#include <limits>
#include <string>

/// A run result with every field set, for tests of everything that carries or prints one.
namespace gradstorm::test {

inline measure::CallResult sample_call(std::string label, std::uint64_t bytes, std::int64_t base_ns) {
    measure::CallResult call;
    call.label = std::move(label);
    call.kind = measure::CollectiveKind::all_reduce;
    call.type = measure::DataType::float32;
    call.algorithm = "ring";
    call.ranks = 2;
    call.bytes = bytes;
    call.ideal_ns = base_ns / 2;
    call.ideal_bound = "bandwidth: " + std::to_string(bytes) + " B at 100 Gb/s x 98.04 % goodput";
    for (std::int64_t repetition = 0; repetition < 2; ++repetition) {
        auto& times = call.completion_ns.emplace_back();
        for (std::int64_t i = 0; i < 10; ++i) times.push_back(base_ns + 100 * i + 7 * repetition);
    }
    call.wrong_elements = 0;
    return call;
}

inline measure::RunResult sample_run() {
    measure::RunResult run;
    run.uuid = "6f1c1a52-9d0e-4a63-b7f5-2f3d3c8a9b10";
    run.started_utc = "2026-03-01T12:00:00Z";
    run.profile_name = "resnet50-ddp";
    run.profile_text = "# \"quoted\"\n[run]\nseed = 1\n";
    run.profile_sha256 = "0d5a1f5e9f60a8a1b1f1f7a9b6d6d8c0c1b2a3948576a5b4c3d2e1f0a9b8c7d6";
    run.schedule_hash = "aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889999";
    run.version = "0.1.0";
    run.seed = std::numeric_limits<std::uint64_t>::max();
    run.ranks = 2;
    run.path_mtu = 4096;
    run.engine = "dpdk, embedded fabric";
    run.payload = "memory";
    run.fidelity = "messages";
    run.disclosures = {"emulated: software HCA on the embedded fabric, no NIC", "not modelled: switch queues"};
    run.line_rate_bits_per_s = 100e9;
    run.outcome = measure::Outcome::pass;
    run.settings = {{"run.seed", "1"}, {"transport.payload", "memory"}};
    run.environment = {{"host", "lab-7"}, {"cpu", "AMD EPYC"}, {"kernel", "6.1.0"}};
    run.dut = {{"switch", "leaf-1"}, {"ecn", "Kmin 100 KiB, Kmax 400 KiB"}};
    measure::MeasurementResult measurement;
    measurement.label = "iteration";
    measurement.calls = {sample_call("ddp[0]", 8'196'000, 1'000'000), sample_call("ddp[1]", 31'502'336, 4'000'000)};
    for (int repetition = 0; repetition < 2; ++repetition)
        measurement.iteration_ns.push_back(std::vector<std::int64_t>(10, 6'000'000 + repetition));
    for (std::int64_t i = 0; i < 30'000; ++i) measurement.message_latency.record(10'000 + i);
    run.measurements.push_back(measurement);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        measure::PortResult port;
        port.name = "hca" + std::to_string(rank);
        port.rank = rank;
        std::uint64_t next = 1000;
        for (const auto& counter : measure::kPortCounters) port.*counter.value = next += 17;
        port.wire_bytes = 810'000'000;
        port.payload_bytes = port.rx_payload_bytes = 793'966'720;
        port.communicating_ns = 110'000'000;
        run.ports.push_back(port);
        run.rank_results.push_back(
            {rank, rank, 1'500 + rank, rank == 0 ? std::nullopt : std::optional<std::int64_t>(9'000)});
    }
    run.self_check = {.busy_share = 0.42,
                      .late_steps = 3,
                      .longest_gap_ns = 250'000,
                      .ring_high_water = 0.5,
                      .send_refusals = 7,
                      .lost_frames = 0,
                      .clock_residual_ppm = 1.25,
                      .clock = "tsc 2300.000 MHz",
                      .verdict = "ok"};
    run.events = {{5'000, "warning", "percentiles rest on 20 iterations"}, {9'000'000, "outcome", "pass"}};
    return run;
}

}  // namespace gradstorm::test
