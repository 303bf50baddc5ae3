// SPDX-License-Identifier: Apache-2.0
//
// Pairwise all-to-all (collectives.md, section 1). The source of every rank is n blocks, block d for rank d; its result
// is n blocks of the length of its own one, in the order of the senders.
//
// Step k = 0..n-2: rank r sends block r+1+k to that rank, and receives from rank r-1-k into its result. The block for
// itself is a local copy. No op waits for another: every message goes from a source to its final place.
#include "engine/collective/algorithms.h"
#include "engine/collective/partition.h"
#include "engine/collective/ring.h"
#include "engine/collective/step_cursor.h"

namespace gradstorm::collective {

namespace {

struct Walk {
    Pieces pieces;
    Ring ring;
    std::uint64_t own_block = 0;  ///< bytes of block r over all channels: the stride of the result
    std::uint32_t peer = 0;
};

struct SendRule : Walk {
    Balanced blocks;  ///< of S, in elements
    std::uint64_t element = 1;

    [[nodiscard]] Step enter(std::uint32_t step) const {
        const std::uint64_t peer_block = blocks.length(peer) * element;  // the stride of the peer's result
        return {.kind = OpKind::send,
                .from = Place::source,
                .to = Place::result,
                .peer = peer,
                .number = step,
                .from_offset = pieces.whole(peer).offset,
                .to_offset = ring.rank * peer_block + pieces.whole_in_block(peer).offset,
                .lengths = pieces.lengths(peer)};
    }
    void advance() { peer = peer + 1 == ring.ranks ? 0 : peer + 1; }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t step) const {
        return {.kind = OpKind::receive,
                .to = Place::result,
                .peer = peer,
                .number = step,
                .to_offset = peer * own_block + pieces.whole_in_block(ring.rank).offset,
                .lengths = pieces.lengths(ring.rank)};
    }
    void advance() { peer = (peer == 0 ? ring.ranks : peer) - 1; }
};

struct LocalRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        const Range from = pieces.whole(ring.rank);
        return {.kind = OpKind::copy,
                .from = Place::source,
                .to = Place::result,
                .peer = ring.rank,
                .from_offset = from.offset,
                .to_offset = ring.rank * own_block + pieces.whole_in_block(ring.rank).offset,
                .lengths = PieceLengths::single(from.length)};
    }
    void advance() {}
};

class PairwiseAllToAll final : public Schedule {
public:
    explicit PairwiseAllToAll(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "pairwise"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Ring ring{call_.ranks, rank};
        const Pieces pieces = Pieces::of_rank_blocks(call_, channel);
        const std::uint64_t element = measure::size_of(call_.type);
        const Balanced blocks = Balanced::make(call_.bytes.value / element, call_.ranks);
        const std::uint64_t own_block = blocks.length(rank) * element;
        const std::uint32_t steps = call_.ranks - 1;
        if (role == Role::send) {
            const Walk walk{pieces, ring, own_block, ring.next()};
            const SendRule rule{walk, blocks, element};
            return step_cursor(rule, steps, pieces.count());
        }
        const Walk walk{pieces, ring, own_block, ring.previous()};
        if (role == Role::receive) return step_cursor(ReceiveRule{walk}, steps, pieces.count());
        return step_cursor(LocalRule{walk}, 1, pieces.count() == 0 ? 0 : 1);
    }

    [[nodiscard]] Totals totals(std::uint32_t rank) const override {
        const std::uint64_t steps = call_.ranks - 1;
        Totals totals;
        totals.steps = call_.bytes.value == 0 ? 0 : steps;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces pieces = Pieces::of_rank_blocks(call_, channel);
            const std::uint64_t own = pieces.whole(rank).length;
            totals.messages_sent += steps * pieces.count();
            totals.messages_received += steps * pieces.count();
            totals.bytes_sent += Bytes{pieces.total() - own};
            totals.bytes_received += Bytes{steps * own};
            totals.largest_message = std::max(totals.largest_message, Bytes{pieces.longest_piece()});
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const std::uint32_t longer = Pieces::of_rank_blocks(call_, channel).long_blocks();
            starts.add(longer);
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
        std::vector<std::uint32_t> result;
        if (Pieces::of_rank_blocks(call_, channel).count() == 0) return result;
        result.reserve(call_.ranks - 1);
        for (std::uint32_t peer = 0; peer < call_.ranks; ++peer) {
            if (peer != rank) result.push_back(peer);
        }
        return result;
    }

private:
    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> pairwise_all_to_all(const Call& call) {
    return std::make_unique<PairwiseAllToAll>(call);
}

}  // namespace gradstorm::collective
