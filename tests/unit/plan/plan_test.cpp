// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.h"

#include "base/digest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace gradstorm::plan {
namespace {

using collective::Call;
using measure::CollectiveKind;
using testing::HasSubstr;
using workload::PlannedCall;
using workload::Workload;

constexpr double kRoce4096 = 4096.0 / 4178.0;  // kpi-and-tests.md, section 2

PlannedCall planned(Call call, std::vector<std::uint32_t> group = {}) {
    if (group.empty()) {
        group.resize(call.ranks);
        std::iota(group.begin(), group.end(), 0U);
    }
    return {.call = call, .group = std::move(group), .gap = Nanoseconds{1000}, .label = "test[0]"};
}

Workload workload_of(std::uint32_t ranks, std::vector<PlannedCall> calls) {
    return {
        .ranks = ranks,
        .measurements = {{.label = "test", .jobs = {{.name = "test", .overlap = false, .calls = std::move(calls)}}}},
        .warnings = {}};
}

IdealTime ideal_of(const Call& call, const Assumptions& assumptions) {
    return ideal_time(**collective::make_schedule(call), assumptions);
}

TEST(IdealTime, IsThatOfThePublishedRingExample) {  // kpi-and-tests.md, section 3
    const Call ring{.ranks = 8, .bytes = Bytes{1U << 30U}};
    const IdealTime at_50_gigabytes = ideal_of(ring, {.line_rate = BitsPerSecond{400e9 / kRoce4096}});
    EXPECT_NEAR(static_cast<double>(at_50_gigabytes.total().count()), 37.58e6, 0.005e6);
    const IdealTime at_roce_ceiling = ideal_of(ring, {.line_rate = BitsPerSecond{400e9}});
    EXPECT_NEAR(static_cast<double>(at_roce_ceiling.total().count()), 38.33e6, 0.005e6);
    EXPECT_EQ(at_roce_ceiling.bound,
              "bandwidth: 1879048192 B at 400 Gb/s x 98.04 % goodput at path MTU 4096 over IPv4");

    const Nanoseconds alpha{10'000};
    EXPECT_EQ(ideal_of(ring, {.line_rate = BitsPerSecond{400e9}, .step_latency = alpha}).alpha, Nanoseconds{140'000});
    const Call large{.ranks = 1024, .bytes = Bytes{1U << 30U}};
    const IdealTime many = ideal_of(large, {.line_rate = BitsPerSecond{400e9}, .step_latency = alpha});
    EXPECT_NEAR(static_cast<double>(many.alpha.count()), 20.5e6, 0.05e6);
    EXPECT_NEAR(static_cast<double>(many.beta.count()), 43.8e6, 0.05e6);
}

TEST(IdealTime, FollowsTheFormulasOfK3) {
    const Assumptions assumptions{.line_rate = BitsPerSecond{8e9 / kRoce4096}, .step_latency = Nanoseconds{1'000'000}};
    const auto ideal = [&](CollectiveKind kind, std::uint32_t ranks) {
        // 800 bytes at 1 byte/ns.
        return ideal_of({.kind = kind, .ranks = ranks, .bytes = Bytes{800}, .chunk = Bytes{4}}, assumptions);
    };
    EXPECT_EQ(ideal(CollectiveKind::all_reduce, 8).beta, Nanoseconds{1400});
    EXPECT_EQ(ideal(CollectiveKind::all_reduce, 8).alpha, Nanoseconds{14'000'000});
    for (const CollectiveKind kind :
         {CollectiveKind::reduce_scatter, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
        EXPECT_EQ(ideal(kind, 8).beta, Nanoseconds{700});
        EXPECT_EQ(ideal(kind, 8).alpha, Nanoseconds{7'000'000});
    }
    EXPECT_EQ(ideal(CollectiveKind::broadcast, 8).beta, Nanoseconds{800});
    EXPECT_EQ(ideal(CollectiveKind::broadcast, 8).alpha, Nanoseconds{7'000'000});
    EXPECT_EQ(ideal(CollectiveKind::send_receive, 8).total(), Nanoseconds{1'000'800});
    EXPECT_EQ(ideal(CollectiveKind::barrier, 8).total(), Nanoseconds{7'000'000});
    EXPECT_EQ(ideal(CollectiveKind::all_reduce, 8).bound, "latency: 14 steps of 1000 us");
}

TEST(Plan, GivesTheBytesOfTheResNet50Sync) {  // collectives.md, section 10 and O-12
    std::vector<PlannedCall> calls;
    for (const std::uint64_t elements : {2'049'000U, 7'875'584U, 6'563'840U, 6'637'568U, 2'431'040U}) {
        calls.push_back(planned({.bytes = Bytes{elements * 4}, .channels = 2}));
    }
    const auto plan = make_plan(workload_of(2, calls), {.line_rate = BitsPerSecond{100e9}}, {});
    ASSERT_TRUE(plan) << plan.error().message;
    const MeasurementPlan& measurement = plan->measurements.at(0);
    EXPECT_EQ(measurement.sent_per_rank, Bytes{102'228'128});
    EXPECT_EQ(measurement.declared_compute, Nanoseconds{5000});
    ASSERT_EQ(measurement.calls.size(), 5U);
    EXPECT_EQ(measurement.calls[0].algorithm, "ring");
    EXPECT_EQ(measurement.calls[0].largest.steps, 2U);
    EXPECT_EQ(measurement.calls[0].total_sent, Bytes{2ULL * 8'196'000});
    EXPECT_TRUE(measurement.calls[0].ideal);
}

TEST(Plan, GivesTheFlatRingOfTableO11) {
    const auto plan = make_plan(workload_of(32, {planned({.ranks = 32, .bytes = Bytes{1U << 30U}})}), {}, {});
    ASSERT_TRUE(plan) << plan.error().message;
    const CallPlan& call = plan->measurements.at(0).calls.at(0);
    EXPECT_EQ(call.largest.bytes_sent, Bytes{2'080'374'784});
    EXPECT_EQ(call.largest.steps, 62U);
    EXPECT_FALSE(call.ideal);  // no line rate: not a made-up one
}

TEST(Plan, CountsWireBytesAsTableO9) {
    // Two ranks: 2 messages of 524,288 B each way, with immediate: 534,804 line bytes each at path MTU 4096.
    const Workload workload = workload_of(2, {planned({.bytes = Bytes{1U << 20U}})});
    const auto at = [&](const Assumptions& assumptions) {
        return make_plan(workload, assumptions, {})->measurements.at(0).calls.at(0).wire_bytes_per_rank;
    };
    EXPECT_EQ(at({}), Bytes{2ULL * 534'804});
    EXPECT_EQ(at({.line_rate = {}, .ipv6 = true}), Bytes{2ULL * (534'804 + 128 * 20)});
    EXPECT_EQ(at({.line_rate = {}, .vlan = true}), Bytes{2ULL * (534'804 + 128 * 4)});
}

TEST(Plan, OfOverlappingGroupsFindsTheRankThatSendsMost) {
    // Rank 0 is in both pairs: 400 B to rank 1 and 400 B to rank 2.
    const auto plan = make_plan(
        workload_of(3, {planned({.bytes = Bytes{400}}, {0, 1}), planned({.bytes = Bytes{400}}, {2, 0})}), {}, {});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->measurements.at(0).sent_per_rank, Bytes{800});
}

TEST(Plan, Of131072RanksCostsNothing) {
    std::vector<PlannedCall> calls(20, planned({.ranks = 131'072, .bytes = Bytes{1ULL << 40U}, .channels = 32}));
    const auto plan = make_plan(workload_of(131'072, calls), {.line_rate = BitsPerSecond{400e9}}, {});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->measurements.at(0).calls.at(0).total_sent, Bytes{2ULL * 131'071 << 40U});
}

TEST(Plan, RefusesWhatNoScheduleAndNoPortCanBe) {
    const auto error = [](const Workload& workload, const Assumptions& assumptions) {
        auto plan = make_plan(workload, assumptions, {});
        return plan ? std::string{"accepted"} : plan.error().message;
    };
    EXPECT_EQ(error(workload_of(2, {planned({.bytes = Bytes{3}})}), {}),
              "test[0]: all_reduce: 3 bytes are no whole number of float32 elements of 4 bytes");
    EXPECT_THAT(error(workload_of(2, {}), {.line_rate = {}, .path_mtu = 1500}), HasSubstr("path MTU 1500 is none of"));
    EXPECT_THAT(error(workload_of(2, {}), {.line_rate = BitsPerSecond{0}}), HasSubstr("line rate 0"));
}

TEST(ScheduleHash, ChangesWithEveryInputOfTheGeneratorAndWithNothingElse) {
    const Call call{.ranks = 4, .bytes = Bytes{4096}};
    const Workload base = workload_of(4, {planned(call)});
    const std::string hash = schedule_hash(base, {}, {});
    EXPECT_EQ(hash.size(), 64U);
    EXPECT_EQ(schedule_hash(base, {}, {}), hash);
    std::vector<std::string> others{schedule_hash(base, {.line_rate = {}, .path_mtu = 1024}, {}),
                                    schedule_hash(base, {.line_rate = {}, .ipv6 = true}, {})};
    const auto with_setting = [&](auto change) {
        profiles::Profile other;
        change(other);
        others.push_back(schedule_hash(base, {}, other));
    };
    with_setting([](profiles::Profile& p) { p.run.seed = 2; });
    with_setting([](profiles::Profile& p) { p.run.repetitions = 2; });
    with_setting([](profiles::Profile& p) { p.run.warmup = 2; });
    with_setting([](profiles::Profile& p) { p.run.iterations = 2; });
    with_setting([](profiles::Profile& p) { p.library.slots = 2; });
    with_setting([](profiles::Profile& p) { p.transport.payload = "memory"; });
    with_setting([](profiles::Profile& p) { p.transport.dscp = 2; });
    const auto with = [&](auto change) {
        Workload other = base;
        change(other, other.measurements[0].jobs[0].calls[0]);
        others.push_back(schedule_hash(other, {}, {}));
    };
    with([](Workload&, PlannedCall& c) { c.call.bytes = Bytes{4100}; });
    with([](Workload&, PlannedCall& c) { c.call.kind = CollectiveKind::all_gather; });
    with([](Workload&, PlannedCall& c) { c.call.type = measure::DataType::int32; });
    with([](Workload&, PlannedCall& c) { c.call.channels = 2; });
    with([](Workload&, PlannedCall& c) { c.call.chunk = Bytes{4096}; });
    with([](Workload&, PlannedCall& c) { c.call.fidelity = collective::Fidelity::bytes; });
    with([](Workload&, PlannedCall& c) { c.gap = Nanoseconds{1}; });
    with([](Workload&, PlannedCall& c) { c.group = {0, 1, 3, 2}; });
    with([](Workload& w, PlannedCall&) { w.ranks = 5; });
    with([](Workload& w, PlannedCall&) { w.measurements[0].jobs[0].overlap = true; });
    with([](Workload& w, PlannedCall& c) { w.measurements[0].jobs[0].calls.push_back(c); });
    others.push_back(hash);
    std::sort(others.begin(), others.end());
    EXPECT_EQ(std::adjacent_find(others.begin(), others.end()), others.end());

    Workload renamed = base;
    renamed.measurements[0].label = "other";
    renamed.measurements[0].jobs[0].name = "other";
    renamed.measurements[0].jobs[0].calls[0].label = "other";
    EXPECT_EQ(schedule_hash(renamed, {}, {}), hash);
    profiles::Profile elsewhere;
    elsewhere.transport.workers = 7;
    elsewhere.transport.line_rate = BitsPerSecond{1e9};
    elsewhere.run.check = "none";
    EXPECT_EQ(schedule_hash(base, {.line_rate = BitsPerSecond{1e9}, .step_latency = Nanoseconds{5}}, elsewhere), hash);
}

TEST(ScheduleHash, OfAKnownScheduleStaysTheSame) {
    EXPECT_EQ(schedule_hash(workload_of(4, {planned({.ranks = 4, .bytes = Bytes{4096}})}), {}, {}),
              "1b5452d0ce1fd5836518a78c9468664666e41a44bb3bac3fab1b29e4824286aa");
}

TEST(ScheduleHash, GeneratorVersionStandsForTheseMessages) {
    std::string text;
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::all_to_all,
                                      CollectiveKind::send_receive, CollectiveKind::barrier}) {
        const Call call{.kind = kind, .ranks = 5, .bytes = Bytes{308}, .channels = 2, .chunk = Bytes{16}};
        const auto schedule = collective::make_schedule(call);
        for (std::uint32_t stream = 0; stream < 10; ++stream) {  // every rank, both channels
            const auto sends = (*schedule)->cursor(stream / 2, stream % 2, collective::Role::send);
            for (collective::Op op; sends->next(op);) {
                text += fmt::format("{} {} {} {}\n", op.peer, op.from_offset, op.to_offset, op.length);
            }
        }
    }
    // Other messages, or in another order, make runs of before and after incomparable: count the version up.
    EXPECT_EQ(kGeneratorVersion, 1U);
    EXPECT_EQ(sha256_hex(text), "8e12508196f20e51f43063cb6854aa33f3e9b0e0e708fd3e462d79ebe991c6c9");
}

TEST(TrafficMatrix, SumsTheCallsOfAllGroups) {
    const Workload workload =
        workload_of(4, {planned({.ranks = 2, .bytes = Bytes{400}}, {1, 3}),
                        planned({.kind = CollectiveKind::all_to_all, .ranks = 4, .bytes = Bytes{64}, .channels = 3})});
    const auto matrix = traffic_matrix(workload.measurements[0], 4);
    ASSERT_TRUE(matrix) << matrix.error().message;
    for (std::uint32_t from = 0; from < 4; ++from) {
        for (std::uint32_t to = 0; to < 4; ++to) {
            const bool pair = (from == 1 && to == 3) || (from == 3 && to == 1);
            EXPECT_EQ(matrix->at(from, to), (from == to ? 0U : 16U) + (pair ? 400U : 0U));
        }
    }
    EXPECT_FALSE(traffic_matrix(workload.measurements[0], 131'072));
}

}  // namespace
}  // namespace gradstorm::plan
