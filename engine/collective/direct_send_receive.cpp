// SPDX-License-Identifier: Apache-2.0
//
// Send and receive: every rank sends its source to the next one and receives the previous one's into its result, at the
// same time; or, where the call names a pair (from != to), only that pair does. Pieces of a message just follow each
// other.
#include "engine/collective/algorithms.h"
#include "engine/collective/partition.h"
#include "engine/collective/ring.h"
#include "engine/collective/step_cursor.h"

namespace gradstorm::collective {

namespace {

struct Walk {
    Pieces pieces;
    std::uint32_t peer = 0;

    void advance() {}
};

struct SendRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        const std::uint64_t offset = pieces.whole(0).offset;
        return {.kind = OpKind::send,
                .from = Place::source,
                .to = Place::result,
                .peer = peer,
                .from_offset = offset,
                .to_offset = offset,
                .lengths = pieces.lengths(0)};
    }
};

struct ReceiveRule : Walk {
    [[nodiscard]] Step enter(std::uint32_t) const {
        return {.kind = OpKind::receive,
                .to = Place::result,
                .peer = peer,
                .to_offset = pieces.whole(0).offset,
                .lengths = pieces.lengths(0)};
    }
};

class DirectSendReceive final : public Schedule {
public:
    explicit DirectSendReceive(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "direct"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Pieces cut = pieces(channel);
        if (role == Role::send && sends(rank)) {
            return step_cursor(SendRule{{cut, is_pair() ? call_.to : ring(rank).next()}}, 1, cut.count());
        }
        if (role == Role::receive && receives(rank)) {
            return step_cursor(ReceiveRule{{cut, is_pair() ? call_.from : ring(rank).previous()}}, 1, cut.count());
        }
        return empty_cursor();
    }

    [[nodiscard]] Totals totals(std::uint32_t rank) const override {
        Totals totals;
        totals.steps = call_.bytes.value == 0 ? 0 : 1;
        for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
            const Pieces cut = pieces(channel);
            totals.messages_sent += sends(rank) ? cut.count() : 0;
            totals.messages_received += receives(rank) ? cut.count() : 0;
            totals.bytes_sent += Bytes{sends(rank) ? cut.total() : 0};
            totals.bytes_received += Bytes{receives(rank) ? cut.total() : 0};
            totals.largest_message = std::max(totals.largest_message, Bytes{cut.longest_piece()});
        }
        return totals;
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override {
        ClassStarts starts(call_.ranks);
        for (const std::uint32_t rank : {call_.from, call_.to}) {
            for (const int offset : {0, 1}) starts.add(rank, offset);
        }
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
        return {is_pair() ? call_.to : ring(rank).next()};
    }

private:
    [[nodiscard]] Pieces pieces(std::uint32_t channel) const { return Pieces::of_channel_share(call_, channel, 1); }
    [[nodiscard]] Ring ring(std::uint32_t rank) const { return {call_.ranks, rank}; }
    [[nodiscard]] bool is_pair() const { return call_.from != call_.to; }
    [[nodiscard]] bool sends(std::uint32_t rank) const { return !is_pair() || rank == call_.from; }
    [[nodiscard]] bool receives(std::uint32_t rank) const { return !is_pair() || rank == call_.to; }

    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> direct_send_receive(const Call& call) {
    return std::make_unique<DirectSendReceive>(call);
}

}  // namespace gradstorm::collective
