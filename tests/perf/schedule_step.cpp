// SPDX-License-Identifier: Apache-2.0
//
// PERF schedule-step: ops a second that the cursors of eight ranks' streams make, as one worker would step them.
// Anchor: the same ops from arrays made before (5.8 MB) behind the same interface, the form that a materialised
// schedule takes: each op is copied out and nothing is computed. Both use every op in the same way.
#include "engine/collective/schedule.h"
#include "tests/perf/perf_line.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using gradstorm::Bytes;
using namespace gradstorm::collective;

/// A ring over 64 ranks: 126 steps of 16 pieces in a send stream.
constexpr Call kCall{.ranks = 64, .bytes = Bytes{1U << 30U}, .channels = 2, .chunk = Bytes{512U << 10U}};
constexpr std::uint32_t kRanks = 8;
constexpr std::size_t kBatch = 32;
constexpr int kPasses = 10;
constexpr std::size_t kRounds = 9;

/// What an executor reads of every op.
std::uint64_t use(const Op& op) {
    return op.from_offset + op.to_offset + op.length + op.after[0].completed + op.after[1].completed + op.peer +
           static_cast<std::uint64_t>(op.kind) + static_cast<std::uint64_t>(op.from) +
           static_cast<std::uint64_t>(op.to);
}

/// Million ops a second of `pass`, which goes through all ops once and returns how many they were.
template <class Pass>
double rate(Pass&& pass) {
    const auto start = std::chrono::steady_clock::now();
    std::size_t ops = 0;
    for (int i = 0; i < kPasses; ++i) ops += pass();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(ops) / took.count();
}

/// A stream whose ops were made before.
class ArrayCursor final : public Cursor {
public:
    explicit ArrayCursor(std::vector<Op> ops) : ops_(std::move(ops)) {}
    using Cursor::next;
    std::size_t next(std::span<Op> out) override {
        const std::size_t count = std::min(out.size(), ops_.size() - done_);
        std::copy_n(ops_.data() + done_, count, out.data());
        done_ += count;
        return count;
    }
    void restart() override { done_ = 0; }
    [[nodiscard]] std::unique_ptr<Cursor> clone() const override { return std::make_unique<ArrayCursor>(*this); }

private:
    std::vector<Op> ops_;
    std::size_t done_ = 0;
};

using Cursors = std::vector<std::unique_ptr<Cursor>>;

std::size_t walk(const Cursors& cursors) {
    std::size_t ops = 0;
    std::uint64_t used = 0;
    std::vector<Op> batch(kBatch);
    for (const auto& cursor : cursors) {
        cursor->restart();
        for (std::size_t made = 0; (made = cursor->next(std::span<Op>(batch))) > 0; ops += made) {
            for (const Op& op : std::span<const Op>(batch).first(made)) used += use(op);
        }
    }
    benchmark::DoNotOptimize(used);
    return ops;
}

std::vector<gradstorm::perf::Round> measure_step() {
    const auto schedule = make_schedule(kCall);
    if (!schedule) throw std::runtime_error(schedule.error().message);
    Cursors made;
    Cursors stored;
    for (std::uint32_t stream = 0; stream < kRanks * kCall.channels * kRoles; ++stream) {
        const std::uint32_t channel = stream / kRoles % kCall.channels;
        made.push_back((*schedule)->cursor(stream / (kRoles * kCall.channels), channel, Role(stream % kRoles)));
        std::vector<Op> ops;
        for (Op op; made.back()->next(op);) ops.push_back(op);
        stored.push_back(std::make_unique<ArrayCursor>(std::move(ops)));
    }
    walk(made);  // warm-up
    return gradstorm::perf::interleave(
        kRounds, [&] { return rate([&] { return walk(made); }); }, [&] { return rate([&] { return walk(stored); }); });
}

}  // namespace

int main(int argc, char** argv) {
    return gradstorm::perf::run(argc, argv, {{"schedule-step", "Mop/s", [] { return measure_step(); }}});
}
