// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/partition.h"
#include "engine/collective/schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gradstorm::collective {

/// One step of a stream: ops for the pieces of one block, one after the other. All that pieces have in common, and what
/// holds for the first of them.
struct Step {
    OpKind kind = OpKind::send;
    Place from = Place::none;
    Place to = Place::none;
    std::uint32_t peer = 0;
    std::uint32_t number = 0;  ///< of the algorithm
    std::uint64_t from_offset = 0;
    std::uint64_t to_offset = 0;
    PieceLengths lengths{};
    Dependency after{};  ///< of the first piece; each further one waits for one op more
};

/// A stream that goes through the steps of an algorithm and, within each step, through the pieces of a block, so that
/// pieces pipeline through the ring. The algorithm is in Rule:
///
/// - Step enter(std::uint32_t step) const: the step, which is the one before plus one, or 0;
/// - void advance(): goes on to the block or peer of the next step.
///
/// What changes from piece to piece is only added to, so that an op costs a few additions and its stores.
template <class Rule>
class StepCursor final : public Cursor {
public:
    StepCursor(const Rule& rule, std::uint32_t steps, std::uint64_t pieces)
        : pieces_(pieces), steps_(pieces == 0 ? 0 : steps), rule_(rule), first_(rule) {
        if (steps_ > 0) enter();
    }

    std::size_t next(std::span<Op> out) override {
        std::size_t made = 0;
        while (made < out.size() && step_ != steps_) {
            const std::size_t count = std::min<std::uint64_t>(out.size() - made, pieces_ - piece_);
            make_pieces(out.subspan(made, count));
            made += count;
            if (piece_ == pieces_) finish_step();
        }
        return made;
    }

    void restart() override {
        rule_ = first_;
        step_ = 0;
        piece_ = 0;
        if (steps_ > 0) enter();
    }

    [[nodiscard]] std::unique_ptr<Cursor> clone() const override { return std::make_unique<StepCursor>(*this); }

private:
    /// The next pieces of this step. Everything is in locals, which the compiler keeps in registers: it must assume
    /// that a store to an op changes members.
    void make_pieces(std::span<Op> out) {
        const Step step = now_;
        std::uint64_t from_offset = step.from_offset;
        std::uint64_t to_offset = step.to_offset;
        std::uint64_t awaited = step.after.completed;
        const std::uint64_t from_moves = from_moves_;
        const std::uint64_t to_moves = to_moves_;
        const std::uint64_t waits = waits_;
        std::uint64_t piece = piece_;
        for (Op& op : out) {
            const std::uint64_t length = step.lengths.of(piece);
            op = {.kind = step.kind,
                  .from = step.from,
                  .to = step.to,
                  .peer = step.peer,
                  .step = step.number,
                  .from_offset = from_offset,
                  .to_offset = to_offset,
                  .length = length,
                  .after = {Dependency{step.after.stream, awaited}, Dependency{}}};
            from_offset += length & from_moves;
            to_offset += length & to_moves;
            awaited += waits;
            ++piece;
        }
        now_.from_offset = from_offset;
        now_.to_offset = to_offset;
        now_.after.completed = awaited;
        piece_ = piece;
    }

    static constexpr std::uint64_t mask(bool moves) { return moves ? ~std::uint64_t{0} : 0; }

    void finish_step() {
        piece_ = 0;
        ++step_;
        rule_.advance();
        if (step_ != steps_) enter();
    }

    void enter() {
        now_ = rule_.enter(step_);
        from_moves_ = mask(now_.from != Place::none);
        to_moves_ = mask(now_.to != Place::none && now_.to != Place::slot);
        waits_ = now_.after.completed == 0 ? 0 : 1;
    }

    Step now_;  ///< its offsets move on from piece to piece
    std::uint64_t from_moves_ = 0;
    std::uint64_t to_moves_ = 0;
    std::uint64_t waits_ = 0;
    std::uint64_t piece_ = 0;
    std::uint64_t pieces_;
    std::uint32_t step_ = 0;
    std::uint32_t steps_;
    Rule rule_;
    Rule first_;  ///< as it was at the first step
};

template <class Rule>
[[nodiscard]] std::unique_ptr<Cursor> step_cursor(const Rule& rule, std::uint32_t steps, std::uint64_t pieces) {
    return std::make_unique<StepCursor<Rule>>(rule, steps, pieces);
}

/// A stream without ops.
[[nodiscard]] std::unique_ptr<Cursor> empty_cursor();

}  // namespace gradstorm::collective
