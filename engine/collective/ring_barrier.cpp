// SPDX-License-Identifier: Apache-2.0
//
// Ring barrier: n-1 rounds of zero-length messages to the next rank, each sent after the round before has been
// received. After round k a rank knows that the k+1 ranks before it have entered. Channel 0 only.
#include "engine/collective/algorithms.h"
#include "engine/collective/ring.h"
#include "engine/collective/step_cursor.h"

namespace gradstorm::collective {

namespace {

struct SendRule {
    std::uint32_t peer = 0;

    [[nodiscard]] Step enter(std::uint32_t step) const {
        Step now{.kind = OpKind::send, .peer = peer, .number = step};
        if (step > 0) now.after = one_step_before(stream_index(0, Role::receive), step, 1);
        return now;
    }
    void advance() {}
};

struct ReceiveRule {
    std::uint32_t peer = 0;

    [[nodiscard]] Step enter(std::uint32_t step) const {
        return {.kind = OpKind::receive, .peer = peer, .number = step};
    }
    void advance() {}
};

class RingBarrier final : public Schedule {
public:
    explicit RingBarrier(const Call& call) : call_(call) {}

    [[nodiscard]] const Call& call() const override { return call_; }
    [[nodiscard]] std::string algorithm() const override { return "ring"; }

    [[nodiscard]] std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel, Role role) const override {
        const Ring ring{call_.ranks, rank};
        if (channel > 0 || role == Role::local) return empty_cursor();
        if (role == Role::send) return step_cursor(SendRule{ring.next()}, call_.ranks - 1, 1);
        return step_cursor(ReceiveRule{ring.previous()}, call_.ranks - 1, 1);
    }

    [[nodiscard]] Totals totals(std::uint32_t) const override {
        const std::uint64_t rounds = call_.ranks - 1;
        return {.messages_sent = rounds, .messages_received = rounds, .steps = rounds};
    }

    [[nodiscard]] std::vector<std::uint32_t> class_starts() const override { return {0}; }

    [[nodiscard]] std::vector<MessageCount> messages(std::uint32_t) const override { return {{0, call_.ranks - 1}}; }

    [[nodiscard]] std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const override {
        if (channel > 0) return {};
        return {Ring{call_.ranks, rank}.next()};
    }

private:
    Call call_;
};

}  // namespace

std::unique_ptr<const Schedule> ring_barrier(const Call& call) { return std::make_unique<RingBarrier>(call); }

}  // namespace gradstorm::collective
