// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradstorm::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

profiles::CallSettings call_of_bytes(const std::string& op, std::uint64_t bytes) {
    profiles::CallSettings call;
    call.op = op;
    call.bytes = Bytes{bytes};
    return call;
}

profiles::JobSettings job_of(const std::string& name, std::vector<profiles::CallSettings> calls) {
    profiles::JobSettings job;
    job.name = name;
    job.calls = std::move(calls);
    return job;
}

profiles::Profile profile_of(std::vector<profiles::CallSettings> calls, std::uint32_t ranks = 4) {
    profiles::Profile profile;
    profile.path = "test.toml";
    profile.cluster.nodes = ranks;
    profile.jobs.push_back(job_of("ddp", std::move(calls)));
    return profile;
}

std::string error_of(const profiles::Profile& profile) {
    auto workload = from_profile(profile);
    return workload ? "accepted" : workload.error().message;
}

TEST(WorkloadFromProfile, CountsElementsInBytesOfTheirType) {
    profiles::Profile profile;
    profile.jobs.push_back(job_of("ddp", {}));
    profile.jobs[0].overlap = true;
    for (const std::uint64_t elements : {2'049'000U, 7'875'584U, 6'563'840U, 6'637'568U, 2'431'040U}) {
        profiles::CallSettings call;
        call.op = "all_reduce";
        call.elements = elements;
        call.gap = std::chrono::milliseconds{9};
        profile.jobs[0].calls.push_back(call);
    }
    profile.library.channels = 2;
    const auto workload = from_profile(profile);
    ASSERT_TRUE(workload) << workload.error().message;
    ASSERT_EQ(workload->measurements.size(), 1U);
    EXPECT_EQ(workload->ranks, 2U);
    EXPECT_EQ(workload->measurements[0].label, "ddp");
    const JobIteration& job = workload->measurements[0].jobs.at(0);
    EXPECT_TRUE(job.overlap);
    std::vector<std::uint64_t> bytes;
    bytes.reserve(job.calls.size());
    for (const PlannedCall& call : job.calls) bytes.push_back(call.call.bytes.value);
    EXPECT_THAT(bytes, ElementsAre(8'196'000U, 31'502'336U, 26'255'360U, 26'550'272U, 9'724'160U));  // O-12
    EXPECT_EQ(job.calls[1].label, "ddp[1]");
    EXPECT_EQ(job.calls[1].gap, Nanoseconds{9'000'000});
    EXPECT_EQ(job.calls[1].call.channels, 2U);
    EXPECT_THAT(job.calls[1].group, ElementsAre(0U, 1U));
}

TEST(WorkloadFromProfile, MakesOneMeasurementOfEachSizeOfASweep) {
    profiles::CallSettings call;
    call.op = "all_reduce";
    call.dtype = "bfloat16";
    call.sweep = profiles::SizeSweep{.from = Bytes{8}, .to = Bytes{64U << 20U}, .factor = 2};
    const auto workload = from_profile(profile_of({call}, 8));
    ASSERT_TRUE(workload) << workload.error().message;
    ASSERT_EQ(workload->measurements.size(), 24U);
    EXPECT_EQ(workload->measurements.front().label, "all_reduce bfloat16 8 B");
    EXPECT_EQ(workload->measurements.back().label, "all_reduce bfloat16 64 MiB");
    EXPECT_EQ(workload->measurements.back().jobs.at(0).calls.at(0).call.bytes, Bytes{64U << 20U});
}

TEST(WorkloadFromProfile, StopsASweepAtTheLastSizeNotAboveItsEnd) {
    profiles::CallSettings call = call_of_bytes("all_gather", 0);
    call.bytes.reset();
    call.sweep = profiles::SizeSweep{.from = Bytes{4}, .to = Bytes{~0ULL}, .factor = 1000};
    const auto workload = from_profile(profile_of({call}));
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_EQ(workload->measurements.back().jobs.at(0).calls.at(0).call.bytes, Bytes{4'000'000'000'000'000'000U});
}

TEST(WorkloadFromProfile, SweepsBesideWholeIterationsOfOtherJobs) {
    profiles::CallSettings sweep = call_of_bytes("all_gather", 0);
    sweep.bytes.reset();
    sweep.sweep = profiles::SizeSweep{.from = Bytes{1024}, .to = Bytes{4096}, .factor = 2};
    auto profile = profile_of({sweep, call_of_bytes("all_reduce", 400)});
    profile.jobs.push_back(job_of("noise", {call_of_bytes("all_to_all", 64), call_of_bytes("barrier", 0)}));
    const auto workload = from_profile(profile);
    ASSERT_TRUE(workload) << workload.error().message;
    ASSERT_EQ(workload->measurements.size(), 4U);  // three sizes and the fixed call
    EXPECT_EQ(workload->measurements[3].label, "all_reduce float32 400 B");
    for (const Measurement& measurement : workload->measurements) {
        ASSERT_EQ(measurement.jobs.size(), 2U);
        EXPECT_EQ(measurement.jobs[0].calls.size(), 1U);
        EXPECT_EQ(measurement.jobs[1].calls.size(), 2U);
    }
    profile.jobs[1].calls.push_back(sweep);
    EXPECT_THAT(error_of(profile), HasSubstr("more than one job sweeps"));
}

TEST(WorkloadFromProfile, CountsRootAndPairInTheGroup) {
    auto broadcast = call_of_bytes("broadcast", 16);
    broadcast.group = {3, 1};
    broadcast.root = 1;
    auto pair = call_of_bytes("send_receive", 16);
    pair.from = 2;
    pair.to = 0;
    const auto workload = from_profile(profile_of({broadcast, pair}));
    ASSERT_TRUE(workload) << workload.error().message;
    const auto& calls = workload->measurements.at(0).jobs.at(0).calls;
    EXPECT_THAT(calls.at(0).group, ElementsAre(3U, 1U));
    EXPECT_EQ(calls[0].call.ranks, 2U);
    EXPECT_EQ(calls[0].call.root, 1U);
    EXPECT_EQ(calls[1].call.from, 2U);
    EXPECT_EQ(calls[1].call.to, 0U);
}

TEST(WorkloadFromProfile, RefusesWhatThisVersionCannotReplay) {
    auto profile = profile_of({call_of_bytes("all_reduce", 64)});
    profile.flows = 2;
    EXPECT_THAT(error_of(profile), HasSubstr("[[flow]]"));

    profile = profile_of({});
    profile.jobs[0].model = "llama3-70b";
    EXPECT_THAT(error_of(profile), HasSubstr("model \"llama3-70b\""));

    profile = profile_of({call_of_bytes("all_reduce", 64)});
    profile.cluster.nodes = 131'072;
    profile.cluster.gpus_per_node = 2;
    EXPECT_THAT(error_of(profile), HasSubstr("262144 ranks: this version plans and runs at most 131072"));

    // Two ranks exchange halves: 4 GiB are cut into messages of 2 GiB, one byte more is too much.
    profile = profile_of({call_of_bytes("all_reduce", std::uint64_t{4} << 30U)}, 2);
    profile.library.fidelity = "bytes";
    EXPECT_EQ(error_of(profile), "accepted");
    profile = profile_of({call_of_bytes("all_reduce", (std::uint64_t{4} << 30U) + 4096)}, 2);
    profile.library.fidelity = "bytes";
    EXPECT_THAT(error_of(profile), HasSubstr("InfiniBand carries at most 2 GiB"));

    profile = profile_of({call_of_bytes("all_reduce", 64)});
    profile.library.fidelity = "nccl";
    EXPECT_EQ(error_of(profile),
              "test.toml: library.fidelity \"nccl\" is not in this version, use \"messages\" or \"bytes\"");

    profile = profile_of({call_of_bytes("all_reduce", 64)});
    profile.library.algorithm = "tree";
    EXPECT_THAT(error_of(profile), HasSubstr("algorithm \"tree\" is not in this version"));

    profile = profile_of({call_of_bytes("all_reduce", 64)});
    profile.library.protocol = "ll128";
    EXPECT_THAT(error_of(profile), HasSubstr("protocol \"ll128\" is not in this version"));
}

TEST(WorkloadFromProfile, NamesTheCallThatIsWrong) {
    EXPECT_EQ(error_of(profile_of({call_of_bytes("all_reduce", 64), call_of_bytes("all_gather", 10)})),
              "test.toml: ddp[1]: all_gather: 10 bytes are no whole number of float32 elements of 4 bytes");
    auto call = call_of_bytes("all_reduce", 64);
    call.group = {0, 4};
    EXPECT_EQ(error_of(profile_of({call})),
              "test.toml: ddp[0]: rank 4 of the group is not one of the run's ranks 0 to 3");
    call.group = {1, 1};
    EXPECT_THAT(error_of(profile_of({call})), HasSubstr("rank 1 is in the group twice"));
    call.group = {2};
    EXPECT_THAT(error_of(profile_of({call})), HasSubstr("1 rank is no group"));
    EXPECT_THAT(error_of(profile_of({call_of_bytes("all_reduce", 64)}, 1)), HasSubstr("1 rank is no group"));
    call = call_of_bytes("broadcast", 64);
    call.root = 4;
    EXPECT_THAT(error_of(profile_of({call})), HasSubstr("root 4 is not one of the ranks 0 to 3"));
    call = call_of_bytes("send_receive", 64);
    call.from = 1;
    EXPECT_THAT(error_of(profile_of({call})), HasSubstr("from and to come as a pair"));
    call.to = 1;
    EXPECT_THAT(error_of(profile_of({call})), HasSubstr("sends nothing to itself"));
    EXPECT_THAT(error_of(profile_of({call_of_bytes("all_redcue", 64)})), HasSubstr("\"all_redcue\" is no collective"));
    EXPECT_THAT(error_of(profile_of({})), HasSubstr("makes no calls"));
    EXPECT_THAT(error_of(profiles::Profile{}), HasSubstr("nothing to run"));
}

}  // namespace
}  // namespace gradstorm::workload
