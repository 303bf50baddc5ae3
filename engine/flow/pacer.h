// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Open-loop traffic: what is sent at a rate that was asked for, whatever comes back.
namespace gradstorm::flow {

/// A point of time, or a distance, in picoseconds with a binary fraction: sums of a thousand million gaps are off by
/// less than a picosecond. A point counts from the start of the run.
struct Picoseconds {
    std::uint64_t whole = 0;     ///< enough for 213 days
    std::uint64_t fraction = 0;  ///< in 2^-64 ps

    friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) {
        const std::uint64_t fraction = a.fraction + b.fraction;
        return {a.whole + b.whole + (fraction < a.fraction ? 1U : 0U), fraction};
    }
    friend constexpr bool operator==(Picoseconds, Picoseconds) = default;
};

/// The time that `units` (frames, or bits of whatever layer) take at `units_per_second`, which is positive.
[[nodiscard]] Picoseconds gap_at(double units_per_second, std::uint64_t units);

/// What becomes of the schedule when the sender could not follow it: its core was taken away, or the port was paused.
enum class LatePolicy : std::uint8_t {
    stretch,  ///< all that is still to come moves back by the time lost: the total is sent later
    skip,     ///< the slots lost are not sent: the total falls short, the end stays
};

struct PacerSettings {
    LatePolicy late = LatePolicy::skip;
    std::uint64_t tolerance_ps = 100'000'000;  ///< lateness that is caught up at full speed: it bounds every burst
    std::uint32_t burst = 1;                   ///< frames that leave together, at the time of the first
};

struct PacerCounters {
    std::uint64_t taken = 0;         ///< slots in which a frame may be sent
    std::uint64_t late = 0;          ///< times that the tolerance was exceeded
    std::uint64_t skipped = 0;       ///< slots lost (skip)
    std::uint64_t stretched_ps = 0;  ///< time lost (stretch)
};

/// The schedule of one sender: absolute deadlines, one after the other, so that no error adds up. Reads no clock; one
/// reading serves a batch. One thread.
class Pacer {
public:
    Pacer(const PacerSettings& settings, std::uint64_t start_ps) : settings_(settings), next_{start_ps, 0} {
        burst_at_ = start_ps;
    }

    /// How many of the next `most` frames, each taking `gap`, are due. They count as sent: build and send them.
    [[nodiscard]] std::size_t take(std::uint64_t now_ps, std::size_t most, Picoseconds gap) {
        if (now_ps > burst_at_ + settings_.tolerance_ps) [[unlikely]]
            be_late(now_ps, gap);
        std::size_t count = 0;
        while (count < most && burst_at_ <= now_ps) {
            ++count;
            next_ = next_ + gap;
            if (++in_burst_ < settings_.burst) continue;
            in_burst_ = 0;
            burst_at_ = next_.whole;
        }
        counters_.taken += count;
        return count;
    }

    /// When the next frame is due.
    [[nodiscard]] std::uint64_t deadline_ps() const { return burst_at_; }
    [[nodiscard]] const PacerCounters& counters() const { return counters_; }

private:
    void be_late(std::uint64_t now_ps, Picoseconds gap);

    PacerSettings settings_;
    Picoseconds next_;            // where the frame behind the last one taken has its slot
    std::uint64_t burst_at_ = 0;  // when its burst leaves
    std::uint32_t in_burst_ = 0;  // frames of the burst already taken
    PacerCounters counters_;
};

}  // namespace gradstorm::flow
