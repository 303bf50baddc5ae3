// SPDX-License-Identifier: Apache-2.0
//
// Pipelined ring broadcast (collectives.md, section 1). The root sends its source piece by piece along the ring; every
// other rank receives each piece into its result and, unless it is the last one before the root, passes it on. The
// root's result is a local copy. Step s of the call is the hop from the s-th to the (s+1)-th rank behind the root.
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
    std::uint32_t distance = 0;  ///< hops from the root

    void advance() {}
};

struct SendRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        const std::uint64_t offset = pieces.whole(0).offset;
        Step now{.kind = OpKind::send,
                 .from = distance == 0 ? Place::source : Place::result,
                 .to = Place::result,
                 .peer = ring.next(),
                 .number = distance,
                 .from_offset = offset,
                 .to_offset = offset,
                 .lengths = pieces.lengths(0)};
        if (distance > 0) now.after = {stream_index(channel, Role::receive), 1};
        return now;
    }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        return {.kind = OpKind::receive,
                .to = Place::result,
                .peer = ring.previous(),
                .number = distance - 1,
                .to_offset = pieces.whole(0).offset,
                .lengths = pieces.lengths(0)};
    }
};

struct LocalRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        const Range range = pieces.whole(0);
        return {.kind = OpKind::copy,
                .from = Place::source,
                .to = Place::result,
                .peer = ring.rank,
                .from_offset = range.offset,
                .to_offset = range.offset,
                .lengths = PieceLengths::single(range.length)};
    }
};

class RingBroadcast final : public Schedule {
public:
    explicit RingBroadcast(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "ring"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Walk walk{pieces(channel), {call_.ranks, rank}, channel, distance(rank)};
        const std::uint64_t count = walk.pieces.count();
        switch (role) {
            case Role::send: return sends(rank) ? step_cursor(SendRule{walk}, 1, count) : empty_cursor();
            case Role::receive: return receives(rank) ? step_cursor(ReceiveRule{walk}, 1, count) : empty_cursor();
            case Role::local: break;
        }
        return rank == call_.root && count > 0 ? step_cursor(LocalRule{walk}, 1, 1) : empty_cursor();
    }

    [[nodiscard]] Totals totals(std::uint32_t rank) const override {
        Totals totals;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces cut = pieces(channel);
            if (cut.count() == 0) continue;
            totals.messages_sent += sends(rank) ? cut.count() : 0;
            totals.messages_received += receives(rank) ? cut.count() : 0;
            totals.bytes_sent += Bytes{sends(rank) ? cut.total() : 0};
            totals.bytes_received += Bytes{receives(rank) ? cut.total() : 0};
            totals.largest_message = std::max(totals.largest_message, Bytes{cut.longest_piece()});
            totals.steps = std::max(totals.steps, call_.ranks - 2 + cut.count());
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        for (const int offset : {-1, 0, 1}) starts.add(call_.root, offset);
        return starts.ascending();
    }

    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t rank) const override {
        MessageTally tally;
        if (!sends(rank)) return {};
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) pieces(channel).tally(tally);
        return tally.ascending();
    }

    [[nodiscard]] std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const override {
        if (!sends(rank) || pieces(channel).count() == 0) return {};
        return {Ring{call_.ranks, rank}.next()};
    }

private:
    [[nodiscard]] Pieces pieces(std::uint32_t channel) const { return Pieces::of_channel_share(call_, channel, 1); }
    [[nodiscard]] std::uint32_t distance(std::uint32_t rank) const { return Ring{call_.ranks, rank}.minus(call_.root); }
    [[nodiscard]] bool sends(std::uint32_t rank) const { return distance(rank) + 1 < call_.ranks; }
    [[nodiscard]] bool receives(std::uint32_t rank) const { return distance(rank) > 0; }

    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> ring_broadcast(const Call& call) { return std::make_unique<RingBroadcast>(call); }

}  // namespace gradstorm::collective
