// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradstorm::flow {

/// What became of the frames of one queue pair, from the PSNs in the order of their arrival.
struct SequenceCounters {
    std::uint64_t received = 0;           ///< frames, all of those below
    std::uint64_t in_order = 0;           ///< and new
    std::uint64_t reordered = 0;          ///< new, but behind one with a later PSN that came before (RFC 4737, 3.4)
    std::uint64_t duplicates = 0;         ///< a PSN seen before
    std::uint64_t too_late = 0;           ///< kWindow or more PSNs behind: duplicate or reordered, nobody knows
    std::uint32_t reordering_extent = 0;  ///< largest number of PSNs that a reordered frame was behind the latest one
};

/// Accounts for the PSNs of one queue pair. Loss is known once nothing more can arrive: what is missing by then. PSNs
/// have 24 bits and go around; gaps of half of that and more are not told from steps back. One thread; no allocation.
class SequenceAccount {
public:
    static constexpr std::uint32_t kWindow = 4096;  ///< PSNs behind the latest that are remembered one by one

    explicit SequenceAccount(std::uint32_t first_psn) : next_(first_psn & kMask) {}

    void arrived(std::uint32_t psn) {
        ++counters_.received;
        if (psn == next_) [[likely]] {
            ++counters_.in_order;
            remember(psn);
            step();
            return;
        }
        out_of_line(psn);
    }

    [[nodiscard]] const SequenceCounters& counters() const { return counters_; }
    /// Frames that have not arrived of those up to the latest one that has; those behind it nobody can miss here.
    [[nodiscard]] std::uint64_t missing() const { return expected_ - counters_.in_order - counters_.reordered; }
    /// The same when the sender says how many frames he sent. `sent` counts all, duplicates made underway excepted.
    [[nodiscard]] std::uint64_t lost_of(std::uint64_t sent) const {
        const std::uint64_t unique = counters_.in_order + counters_.reordered;
        return sent > unique ? sent - unique : 0;
    }

private:
    static constexpr std::uint32_t kMask = 0xFF'FFFF;

    void remember(std::uint32_t psn) { seen_[psn % kWindow / 64] |= std::uint64_t{1} << psn % 64; }
    void forget(std::uint32_t psn) { seen_[psn % kWindow / 64] &= ~(std::uint64_t{1} << psn % 64); }
    [[nodiscard]] bool knows(std::uint32_t psn) const { return (seen_[psn % kWindow / 64] >> psn % 64 & 1U) != 0; }
    void step() {
        next_ = (next_ + 1) & kMask;
        ++expected_;
    }
    void out_of_line(std::uint32_t psn);
    void jump_to(std::uint32_t psn);

    std::uint32_t next_;
    std::uint64_t expected_ = 0;                      // PSNs from the first to the latest
    std::array<std::uint64_t, kWindow / 64> seen_{};  // of the kWindow PSNs in front of next_; by PSN modulo kWindow
    SequenceCounters counters_;
};

}  // namespace gradstorm::flow
