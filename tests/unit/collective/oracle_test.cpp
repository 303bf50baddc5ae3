// SPDX-License-Identifier: Apache-2.0
//
// Message lists and totals against published tables (collectives.md: section 1, section 2, O-2, O-11).
#include "engine/collective/partition.h"
#include "engine/collective/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace gradstorm::collective {
namespace {

using measure::CollectiveKind;

std::unique_ptr<const Schedule> schedule_of(const Call& call) {
    auto schedule = make_schedule(call);
    EXPECT_TRUE(schedule) << schedule.error().message;
    return std::move(*schedule);
}

TEST(RingAllReduce, SendsTheMessagesOfTableO2) {
    const auto schedule = schedule_of({.ranks = 4, .bytes = Bytes{64}});
    using Message = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // source, destination, chunk
    std::vector<std::vector<Message>> steps(6);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const auto cursor = schedule->cursor(rank, 0, Role::send);
        for (Op op; cursor->next(op);) {
            EXPECT_EQ(op.length, 16U);
            steps.at(op.step).emplace_back(rank, op.peer, static_cast<std::uint32_t>(op.from_offset / 16));
            EXPECT_EQ(op.after[0].completed, op.step);  // what arrived in, or was summed after, the step before
        }
    }
    const std::vector<std::vector<Message>> table{
        {{0, 1, 0}, {1, 2, 1}, {2, 3, 2}, {3, 0, 3}}, {{0, 1, 3}, {1, 2, 0}, {2, 3, 1}, {3, 0, 2}},
        {{0, 1, 2}, {1, 2, 3}, {2, 3, 0}, {3, 0, 1}}, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 0, 0}},
        {{0, 1, 0}, {1, 2, 1}, {2, 3, 2}, {3, 0, 3}}, {{0, 1, 3}, {1, 2, 0}, {2, 3, 1}, {3, 0, 2}}};
    EXPECT_EQ(steps, table);
}

TEST(RingAllReduce, SendsTheBytesOfTableO11OverA1GiBFlatRing) {
    const auto schedule = schedule_of({.ranks = 32, .bytes = Bytes{1U << 30U}});
    const Totals totals = schedule->totals(17);
    EXPECT_EQ(totals.bytes_sent, Bytes{2'080'374'784});
    EXPECT_EQ(totals.steps, 62U);
}

TEST(RingAllReduce, PlansARingOf131072RanksAtNoCost) {
    const auto schedule = schedule_of({.ranks = 131'072, .bytes = Bytes{1ULL << 40U}, .channels = 16});
    const Totals totals = schedule->totals(131'071);
    EXPECT_EQ(totals.steps, 262'142U);
    EXPECT_EQ(totals.messages_sent, 262'142U * 16U);
    const auto cursor = schedule->cursor(131'071, 15, Role::send);
    Op op;
    ASSERT_TRUE(cursor->next(op));
    EXPECT_EQ(op.peer, 0U);
}

TEST(Schedule, SendsNoLessThanTheLowerBounds) {
    for (std::uint32_t n = 2; n <= 33; ++n) {
        for (const std::uint64_t elements : {1U, 7U, 1000U, 4096U}) {
            const std::uint64_t bytes = elements * 4;
            std::uint64_t sent = 0;
            std::uint64_t received = 0;
            for (const CollectiveKind kind :
                 {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                  CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
                const auto schedule = schedule_of({.kind = kind, .ranks = n, .bytes = Bytes{bytes}, .channels = 3});
                std::uint64_t kind_sent = 0;
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    const Totals totals = schedule->totals(rank);
                    kind_sent += totals.bytes_sent.value;
                    received += totals.bytes_received.value;
                }
                sent += kind_sent;
                const std::uint64_t bound = (kind == CollectiveKind::all_reduce     ? 2 * (n - 1)
                                             : kind == CollectiveKind::send_receive ? n
                                                                                    : n - 1) *
                                            bytes;
                EXPECT_EQ(kind_sent, bound) << measure::to_string(kind) << " n=" << n;
            }
            EXPECT_EQ(sent, received);
        }
    }
}

TEST(Schedule, RefusesCallsThatCannotBe) {
    const auto error = [](const Call& call) {
        auto schedule = make_schedule(call);
        return schedule ? std::string{"accepted"} : schedule.error().message;
    };
    EXPECT_EQ(error({.ranks = 1, .bytes = Bytes{4}}), "all_reduce: 1 rank is no group, it takes at least 2");
    EXPECT_EQ(error({.ranks = 2, .bytes = Bytes{6}}),
              "all_reduce: 6 bytes are no whole number of float32 elements of 4 bytes");
    EXPECT_EQ(error({.kind = CollectiveKind::broadcast, .ranks = 2, .bytes = Bytes{4}, .root = 2}),
              "broadcast: root 2 is not one of the ranks 0 to 1");
    EXPECT_EQ(error({.kind = CollectiveKind::send_receive, .ranks = 2, .bytes = Bytes{4}, .from = 0, .to = 2}),
              "send_receive: from 0 to 2 is no pair of the ranks 0 to 1");
    EXPECT_EQ(error({.bytes = Bytes{4}, .channels = 0}), "all_reduce: 0 channels, it takes at least 1");
    EXPECT_EQ(error({.bytes = Bytes{4}, .chunk = Bytes{0}}), "all_reduce: chunks of 0 bytes");
}

TEST(Schedule, HasNoOpsForZeroBytesExceptABarrier) {
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
          CollectiveKind::broadcast, CollectiveKind::all_to_all, CollectiveKind::send_receive}) {
        const auto schedule = schedule_of({.kind = kind, .ranks = 3});
        EXPECT_EQ(schedule->totals(1), Totals{});
        EXPECT_TRUE(schedule->peers(1, 0).empty());
        for (const Role role : {Role::send, Role::receive, Role::local}) {
            Op op;
            EXPECT_FALSE(schedule->cursor(1, 0, role)->next(op));
        }
    }
    EXPECT_EQ(schedule_of({.kind = CollectiveKind::barrier, .ranks = 5})->totals(0).messages_sent, 4U);
}

TEST(Schedule, ResumesFromACloneAndRestarts) {
    const auto schedule = schedule_of({.ranks = 5, .bytes = Bytes{1000}, .channels = 2, .chunk = Bytes{16}});
    const auto original = schedule->cursor(3, 1, Role::send);
    Op a;
    for (int i = 0; i < 11; ++i) ASSERT_TRUE(original->next(a));
    const auto copy = original->clone();
    for (Op b; original->next(a);) {
        ASSERT_TRUE(copy->next(b));
        EXPECT_EQ(a.from_offset, b.from_offset);
        EXPECT_EQ(a.after[0].completed, b.after[0].completed);
    }
    EXPECT_FALSE(copy->next(a));
    copy->restart();
    const auto fresh = schedule->cursor(3, 1, Role::send);
    std::uint64_t ops = 0;
    for (Op b; copy->next(a); ++ops) {
        ASSERT_TRUE(fresh->next(b));
        EXPECT_EQ(a.from_offset, b.from_offset);
    }
    EXPECT_EQ(ops, 8U * 7U);  // 2(n-1) steps of 7 pieces: 100 bytes in chunks of 16
}

TEST(Partition, CutsBalancedWholeElements) {
    for (const std::uint64_t count : {0U, 1U, 6U, 7U, 8U, 1'000'003U}) {
        for (const std::uint64_t parts : {1U, 2U, 7U, 33U}) {
            const Balanced cut = Balanced::make(count, parts);
            std::uint64_t end = 0;
            for (std::uint64_t part = 0; part < parts; ++part) {
                EXPECT_EQ(cut.offset(part), end);
                end += cut.length(part);
                EXPECT_LE(cut.longest() - cut.length(part), 1U);
            }
            EXPECT_EQ(end, count);
        }
    }
}

}  // namespace
}  // namespace gradstorm::collective
