// SPDX-License-Identifier: Apache-2.0
//
// Ring reduce-scatter (collectives.md, section 1): the reduce phase of the ring all-reduce with its labels shifted by
// one, so that rank r ends with block r, at the start of its result.
//
// Step k = 0..n-2: rank r sends block r-1-k (of its source at k = 0, afterwards the partial sum in `work`), receives
// block r-2-k into a slot and adds its own source to it: in `work`, at the same offset as in the source, or, in the
// last step, in the result.
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
        Step now{.kind = OpKind::send,
                 .from = step == 0 ? Place::source : Place::work,
                 .to = Place::slot,
                 .peer = ring.next(),
                 .number = step,
                 .from_offset = pieces.whole(block.block).offset,
                 .lengths = pieces.lengths(block.block)};
        if (step > 0) now.after = one_step_before(stream_index(channel, Role::local), step, pieces.count());
        return now;
    }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        return {.kind = OpKind::receive,
                .to = Place::slot,
                .peer = ring.previous(),
                .number = step,
                .lengths = pieces.lengths(block.block)};
    }
};

struct LocalRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        const std::uint64_t offset = pieces.whole(block.block).offset;
        const bool last = step + 2 == ring.ranks;
        return {.kind = OpKind::reduce,
                .from = Place::source,
                .to = last ? Place::result : Place::work,
                .peer = ring.previous(),
                .number = step,
                .from_offset = offset,
                .to_offset = last ? pieces.whole_in_block(block.block).offset : offset,
                .lengths = pieces.lengths(block.block),
                .after = {stream_index(channel, Role::receive), step * pieces.count() + 1}};
    }
};

class RingReduceScatter final : public Schedule {
public:
    explicit RingReduceScatter(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "ring"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Ring ring{call_.ranks, rank};
        const Pieces pieces = Pieces::of_rank_blocks(call_, channel);
        const std::uint32_t steps = call_.ranks - 1;
        const Walk from_previous{pieces, ring, channel, {call_.ranks, ring.minus(1)}};
        const Walk from_second{pieces, ring, channel, {call_.ranks, ring.minus(2)}};
        switch (role) {
            case Role::send: return step_cursor(SendRule{from_previous}, steps, pieces.count());
            case Role::receive: return step_cursor(ReceiveRule{from_second}, steps, pieces.count());
            case Role::local: break;
        }
        return step_cursor(LocalRule{from_second}, steps, pieces.count());
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
            totals.bytes_sent += all_but(rank);
            totals.bytes_received += all_but(ring.previous());
            totals.bytes_reduced += all_but(ring.previous());
            totals.largest_message = std::max(totals.largest_message, Bytes{pieces.longest_piece()});
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        starts.add(1);
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const std::uint32_t longer = Pieces::of_rank_blocks(call_, channel).long_blocks();
            for (const int offset : {0, 1}) starts.add(longer, offset);
        }
        return starts.ascending();
    }

    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t rank) const override {
        MessageTally tally;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            Pieces::of_rank_blocks(call_, channel).tally_all_but(rank, tally);
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

std::unique_ptr<const Schedule> ring_reduce_scatter(const Call& call) {
    return std::make_unique<RingReduceScatter>(call);
}

}  // namespace gradstorm::collective
