// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <cstdint>
#include <memory>

namespace gradstorm::collective {

/// Where a stream is: op `index` of the stream is piece `piece` of step `step`.
struct Position {
    std::uint32_t step = 0;
    std::uint64_t piece = 0;
    std::uint64_t index = 0;
};

/// A stream that goes through the steps of an algorithm and, within each step, through the pieces of a block: pieces of
/// one step follow each other, so that they pipeline through the ring. The algorithm is in Rule:
///
/// - void make(Op&, const Position&) const: writes the op;
/// - void advance(): goes on to the block or peer of the next step.
template <class Rule>
class StepCursor final : public Cursor {
public:
    StepCursor(const Rule& rule, std::uint32_t steps, std::uint64_t pieces)
        : first_(rule), rule_(rule), steps_(pieces == 0 ? 0 : steps), pieces_(pieces) {}

    bool next(Op& op) override {
        if (at_.step == steps_) return false;
        rule_.make(op, at_);
        ++at_.index;
        if (++at_.piece == pieces_) {
            at_.piece = 0;
            ++at_.step;
            rule_.advance();
        }
        return true;
    }

    void restart() override {
        rule_ = first_;
        at_ = {};
    }

    [[nodiscard]] std::unique_ptr<Cursor> clone() const override { return std::make_unique<StepCursor>(*this); }

private:
    Rule first_;  ///< as it was at the first step
    Rule rule_;
    std::uint32_t steps_;
    std::uint64_t pieces_;
    Position at_;
};

template <class Rule>
[[nodiscard]] std::unique_ptr<Cursor> step_cursor(const Rule& rule, std::uint32_t steps, std::uint64_t pieces) {
    return std::make_unique<StepCursor<Rule>>(rule, steps, pieces);
}

/// A stream without ops.
[[nodiscard]] std::unique_ptr<Cursor> empty_cursor();

}  // namespace gradstorm::collective
