// SPDX-License-Identifier: Apache-2.0
//
// Proves every schedule by running it symbolically, for n = 2..33 with odd sizes, channels, chunks, slots and seeds;
// and proves the proof by breaking the dependencies one kind at a time.
#include "tests/unit/collective/symbolic_executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

namespace gradstorm::collective {
namespace {

using measure::CollectiveKind;
using measure::DataType;

constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                            CollectiveKind::broadcast,  CollectiveKind::all_to_all,     CollectiveKind::send_receive,
                            CollectiveKind::barrier};

struct Case {
    Call call;
    SymbolicSettings settings;
};

std::string text(const Case& test) {
    const Call& call = test.call;
    return fmt::format(
        "{} {} n={} bytes={} root={} pair={}->{} channels={} chunk={} fidelity={} slots={} depth={} seed={}",
        measure::to_string(call.kind), measure::to_string(call.type), call.ranks, call.bytes.value, call.root,
        call.from, call.to, call.channels, call.chunk.value, call.fidelity == Fidelity::bytes ? "bytes" : "messages",
        test.settings.slots, test.settings.send_depth, test.settings.seed);
}

/// A random call of n ranks: fewer elements than ranks, about as many, or more than divide evenly.
Case random_case(CollectiveKind kind, std::uint32_t ranks, std::mt19937_64& random) {
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    Case test;
    Call& call = test.call;
    call.kind = kind;
    call.type = std::array{DataType::uint8, DataType::bfloat16, DataType::float32}[below(3)];
    const std::uint64_t element = measure::size_of(call.type);
    call.ranks = ranks;
    call.bytes =
        Bytes{std::array{below(ranks), ranks + below(3), below(6 * std::uint64_t{ranks}), 1 + below(500)}[below(4)] *
              element};
    call.root = static_cast<std::uint32_t>(below(ranks));
    if (below(2) == 0) {
        call.from = static_cast<std::uint32_t>(below(ranks));
        call.to = static_cast<std::uint32_t>(below(ranks));
    }
    call.channels = static_cast<std::uint32_t>(1 + below(4));
    call.chunk = Bytes{1 + below(10 * element)};
    call.fidelity = below(3) == 0 ? Fidelity::bytes : Fidelity::messages;
    test.settings = {.slots = static_cast<std::uint32_t>(1 + below(8)),
                     .send_depth = static_cast<std::uint32_t>(below(2) == 0 ? 1 : 1 + below(4)),
                     .seed = random()};
    return test;
}

/// Every rank has the totals and message counts of its class.
void expect_classes_to_hold(const Schedule& schedule, const std::string& what) {
    std::uint32_t rank = 0;
    for (const RankClass& same : rank_classes(schedule)) {
        ASSERT_EQ(same.first, rank) << what;
        for (std::uint32_t i = 0; i < same.count; ++i, ++rank) {
            ASSERT_EQ(schedule.totals(rank), same.totals) << what << " rank " << rank;
            ASSERT_EQ(schedule.messages(rank), schedule.messages(same.first)) << what << " rank " << rank;
        }
    }
    ASSERT_EQ(rank, schedule.call().ranks) << what;
}

class Symbolic : public testing::TestWithParam<CollectiveKind> {};

TEST_P(Symbolic, EveryRankEndsWithTheRightData) {
    std::mt19937_64 random(20260000 + static_cast<std::uint64_t>(GetParam()));
    for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
        for (int repeat = 0; repeat < 8; ++repeat) {
            const Case test = random_case(GetParam(), ranks, random);
            const auto schedule = make_schedule(test.call);
            ASSERT_TRUE(schedule) << schedule.error().message;
            ASSERT_EQ(run_symbolically(**schedule, test.settings), "") << text(test);
            expect_classes_to_hold(**schedule, text(test));
        }
    }
}

TEST_P(Symbolic, TwoRanksWithOneSlotAndOneSendInFlight) {
    for (std::uint64_t elements = 0; elements < 40; ++elements) {
        Case test{.call = {.kind = GetParam(), .bytes = Bytes{4 * elements}, .channels = 2, .chunk = Bytes{12}},
                  .settings = {.seed = elements}};
        const auto schedule = make_schedule(test.call);
        ASSERT_TRUE(schedule) << schedule.error().message;
        ASSERT_EQ(run_symbolically(**schedule, test.settings), "") << text(test);
    }
}

std::string kind_name(const testing::TestParamInfo<CollectiveKind>& info) {
    return std::string{measure::to_string(info.param)};
}

INSTANTIATE_TEST_SUITE_P(AllKinds, Symbolic, testing::ValuesIn(kKinds), kind_name);

/// A schedule whose ops were changed after the fact.
class MutatedSchedule final : public Schedule {
public:
    using Mutation = std::function<void(Op&)>;
    MutatedSchedule(const Schedule& base, Mutation mutation) : base_(base), mutation_(std::move(mutation)) {}

    [[nodiscard]] const Call& call() const override { return base_.call(); }
    [[nodiscard]] Totals totals(std::uint32_t rank) const override { return base_.totals(rank); }
    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override { return base_.class_starts(); }
    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t rank) const override { return base_.messages(rank); }
    [[nodiscard]] std::string algorithm() const override { return base_.algorithm(); }
    [[nodiscard]] std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const override {
        return base_.peers(rank, channel);
    }
    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        return std::make_unique<MutatedCursor>(base_.cursor(rank, channel, role), mutation_);
    }

private:
    class MutatedCursor final : public Cursor {
    public:
        MutatedCursor(std::unique_ptr<Cursor> base, Mutation mutation)
            : base_(std::move(base)), mutation_(std::move(mutation)) {}
        std::size_t next(std::span<Op> out) override {
            const std::size_t made = base_->next(out);
            for (Op& op : out.first(made)) mutation_(op);
            return made;
        }
        void restart() override { base_->restart(); }
        [[nodiscard]] std::unique_ptr<Cursor> clone() const override {
            return std::make_unique<MutatedCursor>(base_->clone(), mutation_);
        }

    private:
        std::unique_ptr<Cursor> base_;
        Mutation mutation_;
    };

    const Schedule& base_;
    Mutation mutation_;
};

/// How many of 40 random interleavings find the mutation.
int caught(CollectiveKind kind, const MutatedSchedule::Mutation& mutation) {
    const auto schedule =
        make_schedule({.kind = kind, .ranks = 5, .bytes = Bytes{244}, .root = 3, .channels = 2, .chunk = Bytes{16}});
    const MutatedSchedule mutated(**schedule, mutation);
    int count = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const SymbolicSettings settings{.slots = 4, .send_depth = 2, .seed = seed};
        EXPECT_EQ(run_symbolically(**schedule, settings), "");
        count += run_symbolically(mutated, settings).empty() ? 0 : 1;
    }
    return count;
}

struct Edge {
    CollectiveKind kind;
    OpKind op;
};

class BrokenDependency : public testing::TestWithParam<Edge> {};

TEST_P(BrokenDependency, IsCaughtWhenDropped) {
    EXPECT_GT(
        caught(GetParam().kind, [](Op& op) { op.after = op.kind == GetParam().op ? decltype(op.after){} : op.after; }),
        0);
}

TEST_P(BrokenDependency, IsCaughtWhenOneTooShort) {
    EXPECT_GT(caught(GetParam().kind,
                     [](Op& op) {
                         if (op.kind == GetParam().op && op.after[0].completed > 0) --op.after[0].completed;
                     }),
              0);
}

TEST_P(BrokenDependency, OnWhatNeverHappensIsReportedAsStuck) {
    EXPECT_GT(caught(GetParam().kind,
                     [](Op& op) {
                         if (op.kind == GetParam().op && op.after[0].completed > 0) op.after[0].completed += 1000;
                     }),
              0);
}

std::string edge_name(const testing::TestParamInfo<Edge>& info) {
    constexpr std::array kNames{"send", "receive", "reduce", "copy"};
    return fmt::format("{}_{}", measure::to_string(info.param.kind),
                       kNames.at(static_cast<std::size_t>(info.param.op)));
}

INSTANTIATE_TEST_SUITE_P(Edges, BrokenDependency,
                         testing::Values(Edge{CollectiveKind::all_reduce, OpKind::send},
                                         Edge{CollectiveKind::all_reduce, OpKind::receive},
                                         Edge{CollectiveKind::all_reduce, OpKind::reduce},
                                         Edge{CollectiveKind::reduce_scatter, OpKind::send},
                                         Edge{CollectiveKind::reduce_scatter, OpKind::reduce},
                                         Edge{CollectiveKind::all_gather, OpKind::send},
                                         Edge{CollectiveKind::broadcast, OpKind::send}),
                         edge_name);

TEST(SymbolicExecutor, CatchesAMessageThatGoesToTheWrongPlace) {
    const auto wrong_landing = [](Op& op) {
        if (op.kind != OpKind::reduce && op.to == Place::result && op.to_offset > 0) op.to_offset -= 4;
    };
    EXPECT_EQ(caught(CollectiveKind::all_gather, wrong_landing), 40);
    EXPECT_EQ(caught(CollectiveKind::all_to_all, wrong_landing), 40);
}

}  // namespace
}  // namespace gradstorm::collective
