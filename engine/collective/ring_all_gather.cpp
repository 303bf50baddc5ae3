// SPDX-License-Identifier: Apache-2.0
//
// Ring all-gather (collectives.md, section 1): the copy phase of the ring all-reduce. Rank r's source is block r.
//
// Step k = 0..n-2: rank r sends block r-k (its source at k = 0, afterwards what it received one step before), receives
// block r-1-k into its result. Its own block reaches its result by a local copy, for which nothing waits.
#include "engine/collective/algorithms.h"
#include "engine/collective/partition.h"
#include "engine/collective/ring.h"
#include "engine/collective/step_cursor.h"

namespace gradstorm::collective {

namespace {

struct Walk {
    Pieces pieces;
    Ring ring;
    std::uint32_t channel = 0;
    BackwardBlock block;

    void advance() { block.advance(); }
};

struct SendRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        const bool own = step == 0;
        const std::uint64_t offset = pieces.whole(block.block).offset;
        Step now{.kind = OpKind::send,
                 .from = own ? Place::source : Place::result,
                 .to = Place::result,
                 .peer = ring.next(),
                 .number = step,
                 .from_offset = own ? pieces.whole_in_block(block.block).offset : offset,
                 .to_offset = offset,
                 .lengths = pieces.lengths(block.block)};
        if (!own) now.after = one_step_before(stream_index(channel, Role::receive), step, pieces.count());
        return now;
    }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        return {.kind = OpKind::receive,
                .to = Place::result,
                .peer = ring.previous(),
                .number = step,
                .to_offset = pieces.whole(block.block).offset,
                .lengths = pieces.lengths(block.block)};
    }
};

struct LocalRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        const Range to = pieces.whole(ring.rank);
        return {.kind = OpKind::copy,
                .from = Place::source,
                .to = Place::result,
                .peer = ring.rank,
                .from_offset = pieces.whole_in_block(ring.rank).offset,
                .to_offset = to.offset,
                .lengths = PieceLengths::single(to.length)};
    }
};

class RingAllGather final : public Schedule {
public:
    explicit RingAllGather(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "ring"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Ring ring{call_.ranks, rank};
        const Pieces pieces = Pieces::of_rank_blocks(call_, channel);
        const std::uint32_t steps = call_.ranks - 1;
        const Walk from_own{pieces, ring, channel, {call_.ranks, rank}};
        const Walk from_previous{pieces, ring, channel, {call_.ranks, ring.previous()}};
        switch (role) {
            case Role::send: return step_cursor(SendRule{from_own}, steps, pieces.count());
            case Role::receive: return step_cursor(ReceiveRule{from_previous}, steps, pieces.count());
            case Role::local: break;
        }
        return step_cursor(LocalRule{from_own}, 1, pieces.count() == 0 ? 0 : 1);
    }

    [[nodiscard]] Totals totals(std::uint32_t rank) const override {
        const Ring ring{call_.ranks, rank};
        const std::uint64_t steps = call_.ranks - 1;
        Totals totals;
        totals.steps = call_.bytes.value == 0 ? 0 : steps;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces pieces = Pieces::of_rank_blocks(call_, channel);
            const auto all_but = [&](std::uint32_t block) {
                return Bytes{pieces.total() - pieces.whole(block).length};
            };
            totals.messages_sent += steps * pieces.count();
            totals.messages_received += steps * pieces.count();
            totals.bytes_sent += all_but(ring.next());
            totals.bytes_received += all_but(rank);
            totals.largest_message = std::max(totals.largest_message, Bytes{pieces.longest_piece()});
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        starts.add(0, -1);
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const std::uint32_t longer = Pieces::of_rank_blocks(call_, channel).long_blocks();
            for (const int offset : {0, -1}) starts.add(longer, offset);
        }
        return starts.ascending();
    }

    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t rank) const override {
        MessageTally tally;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            Pieces::of_rank_blocks(call_, channel).tally_all_but(Ring{call_.ranks, rank}.next(), tally);
        }
        return tally.ascending();
    }

    [[nodiscard]] std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const override {
        if (Pieces::of_rank_blocks(call_, channel).count() == 0) return {};
        return {Ring{call_.ranks, rank}.next()};
    }

private:
    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> ring_all_gather(const Call& call) { return std::make_unique<RingAllGather>(call); }

}  // namespace gradstorm::collective
