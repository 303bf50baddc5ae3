// SPDX-License-Identifier: Apache-2.0
//
// Ring all-reduce (collectives.md, section 1, O-2), out of place. Rank r sends to r+1 and receives from r-1.
//
// Reduce phase, step k = 0..n-2: sends block r-k (of its source at k = 0, afterwards the partial sum in its result),
// receives block r-k-1 into a slot and adds its own source: result[r-k-1] = source[r-k-1] + slot. Then it holds the
// full sum of block r+1.
// Copy phase, step n-1+j, j = 0..n-2: sends block r+1-j of its result, receives block r-j into its result.
//
// In both phases a step moves the block before the one of the step before, so that one walk serves both.
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

    [[nodiscard]] bool reducing(std::uint32_t step) const { return step < ring.ranks - 1; }
    void advance() { block.advance(); }
};

struct SendRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        const std::uint64_t offset = pieces.whole(block.block).offset;
        Step now{.kind = OpKind::send,
                 .from = step == 0 ? Place::source : Place::result,
                 .to = reducing(step) ? Place::slot : Place::result,
                 .peer = ring.next(),
                 .number = step,
                 .from_offset = offset,
                 .to_offset = reducing(step) ? 0 : offset,
                 .lengths = pieces.lengths(block.block)};
        // Until step n-1 the block is what the local stream summed up one step before, afterwards what was received.
        const Role maker = step < ring.ranks ? Role::local : Role::receive;
        if (step > 0) now.after = one_step_before(stream_index(channel, maker), step, pieces.count());
        return now;
    }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        Step now{.kind = OpKind::receive,
                 .to = reducing(step) ? Place::slot : Place::result,
                 .peer = ring.previous(),
                 .number = step,
                 .to_offset = reducing(step) ? 0 : pieces.whole(block.block).offset,
                 .lengths = pieces.lengths(block.block)};
        // In copy step j the message lands on the partial sum that this rank sent in step j: that send must be through.
        // Copy step 0 brings block r, of which only the source was sent.
        if (step < ring.ranks) return now;
        const std::uint64_t copy_step = step - (ring.ranks - 1);
        now.after = {stream_index(channel, Role::send), copy_step * pieces.count() + 1};
        return now;
    }
};

struct LocalRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        const std::uint64_t offset = pieces.whole(block.block).offset;
        return {.kind = OpKind::reduce,
                .from = Place::source,
                .to = Place::result,
                .peer = ring.previous(),
                .number = step,
                .from_offset = offset,
                .to_offset = offset,
                .lengths = pieces.lengths(block.block),
                .after = {stream_index(channel, Role::receive), step * pieces.count() + 1}};
    }
};

class RingAllReduce final : public Schedule {
public:
    explicit RingAllReduce(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "ring"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Ring ring{call_.ranks, rank};
        const Pieces pieces = Pieces::of_channel_share(call_, channel, call_.ranks);
        const std::uint32_t phase = call_.ranks - 1;
        const Walk from_own{pieces, ring, channel, {call_.ranks, rank}};
        const Walk from_previous{pieces, ring, channel, {call_.ranks, ring.previous()}};
        switch (role) {
            case Role::send: return step_cursor(SendRule{from_own}, 2 * phase, pieces.count());
            case Role::receive: return step_cursor(ReceiveRule{from_previous}, 2 * phase, pieces.count());
            case Role::local: break;
        }
        return step_cursor(LocalRule{from_previous}, phase, pieces.count());
    }

    [[nodiscard]] Totals totals(std::uint32_t rank) const override {
        const Ring ring{call_.ranks, rank};
        const std::uint64_t phase = call_.ranks - 1;
        Totals totals;
        totals.steps = call_.bytes.value == 0 ? 0 : 2 * phase;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces pieces = Pieces::of_channel_share(call_, channel, call_.ranks);
            const auto all_but = [&](std::uint32_t block) {
                return Bytes{pieces.total() - pieces.whole(block).length};
            };
            totals.messages_sent += 2 * phase * pieces.count();
            totals.messages_received += 2 * phase * pieces.count();
            totals.bytes_sent += all_but(ring.plus(1)) + all_but(ring.plus(2));
            totals.bytes_received += all_but(rank) + all_but(ring.plus(1));
            totals.bytes_reduced += all_but(rank);
            totals.largest_message = std::max(totals.largest_message, Bytes{pieces.longest_piece()});
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        starts.add(0, -1);
        starts.add(0, -2);
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const std::uint32_t longer = Pieces::of_channel_share(call_, channel, call_.ranks).long_blocks();
            for (const int offset : {0, -1, -2}) starts.add(longer, offset);
        }
        return starts.ascending();
    }

    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t rank) const override {
        MessageTally tally;
        const Ring ring{call_.ranks, rank};
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces pieces = Pieces::of_channel_share(call_, channel, call_.ranks);
            pieces.tally_all_but(ring.plus(1), tally);  // reduce phase
            pieces.tally_all_but(ring.plus(2), tally);  // copy phase
        }
        return tally.ascending();
    }

    [[nodiscard]] std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const override {
        if (Pieces::of_channel_share(call_, channel, call_.ranks).count() == 0) return {};
        return {Ring{call_.ranks, rank}.next()};
    }

private:
    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> ring_all_reduce(const Call& call) { return std::make_unique<RingAllReduce>(call); }

}  // namespace gradstorm::collective
