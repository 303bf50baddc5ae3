// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

/// How a buffer is cut: into the shares of channels, the blocks of ranks and the pieces that travel as one message.
/// Every cut is balanced and in whole elements: the first `count % parts` parts hold one element more than the others.
namespace gradstorm::collective {

/// `count` elements in `parts` balanced parts; parts >= 1. The only division is in make().
struct Balanced {
    std::uint64_t base = 0;   ///< elements of a short part
    std::uint64_t extra = 0;  ///< how many parts, the first ones, hold base + 1

    [[nodiscard]] static constexpr Balanced make(std::uint64_t count, std::uint64_t parts) {
        return {count / parts, count % parts};
    }
    [[nodiscard]] constexpr std::uint64_t offset(std::uint64_t part) const {
        return part * base + std::min(part, extra);
    }
    [[nodiscard]] constexpr std::uint64_t length(std::uint64_t part) const { return base + (part < extra ? 1U : 0U); }
    [[nodiscard]] constexpr std::uint64_t longest() const { return length(0); }
};

/// A byte range of a buffer.
struct Range {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    friend bool operator==(const Range&, const Range&) = default;
};

/// Block `rank` of the n balanced blocks of a reduce_scatter, all_gather or all_to_all, within its S bytes.
/// reduce_scatter: what rank `rank` ends with. all_gather: what it contributes. all_to_all: what every rank's source
/// holds for `rank`, whose result is n blocks of this length, in the order of the senders.
[[nodiscard]] Range rank_block(const Call& call, std::uint32_t rank);

/// Lengths in bytes of the pieces of a block: the first `longer` of them hold one element more.
struct PieceLengths {
    std::uint64_t shorter = 0;
    std::uint64_t longer = 0;
    std::uint64_t element = 1;  ///< bytes

    [[nodiscard]] static constexpr PieceLengths single(std::uint64_t length) { return {length, 0, 0}; }
    [[nodiscard]] constexpr std::uint64_t of(std::uint64_t piece) const {
        return shorter + (piece < longer ? element : 0);
    }
};

/// Counts messages by length.
class MessageTally {
public:
    void add(std::uint64_t length, std::uint64_t count) {
        if (count > 0) counts_[length] += count;
    }
    [[nodiscard]] std::vector<MessageCount> ascending() const;

private:
    std::map<std::uint64_t, std::uint64_t> counts_;
};

/// The cut of one channel: blocks, each in the same number of pieces, so that every rank's message counts are equal and
/// follow from O(1) numbers. A piece of a block shorter than the longest may be empty; it is sent all the same.
///
/// Since a cut has only two part lengths, long and short, both are cut into pieces ahead and finding a piece takes no
/// division.
class Pieces {
public:
    /// all_reduce: the buffer over channels first, then the channel's share in `blocks` blocks. With one block:
    /// broadcast and send_receive.
    [[nodiscard]] static Pieces of_channel_share(const Call& call, std::uint32_t channel, std::uint32_t blocks);
    /// reduce_scatter, all_gather, all_to_all: the buffer in n blocks of ranks first, then each over channels.
    [[nodiscard]] static Pieces of_rank_blocks(const Call& call, std::uint32_t channel);

    /// Pieces of each block; 0: the channel has nothing to do.
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// The first so many blocks are the longer ones.
    [[nodiscard]] std::uint32_t long_blocks() const { return static_cast<std::uint32_t>(blocks_.extra); }
    /// The lengths of a block's pieces.
    [[nodiscard]] PieceLengths lengths(std::uint64_t block) const {
        const Balanced& pieces = cut_of(block).pieces;
        return {pieces.base * element_, pieces.extra, element_};
    }
    /// All pieces of a block together, which follow each other: in the buffer of S bytes and within the block.
    [[nodiscard]] Range whole(std::uint64_t block) const;
    [[nodiscard]] Range whole_in_block(std::uint64_t block) const;
    /// Bytes of all blocks together: the channel's share of the buffer.
    [[nodiscard]] std::uint64_t total() const {
        return (blocks_.extra * cuts_[0].length + (block_count_ - blocks_.extra) * cuts_[1].length) * element_;
    }
    /// Counts the pieces of every block, or of every block but one.
    void tally(MessageTally& tally) const;
    void tally_all_but(std::uint64_t block, MessageTally& tally) const;
    /// Bytes of the longest piece of any block.
    [[nodiscard]] std::uint64_t longest_piece() const {
        return std::max(cuts_[0].pieces.longest(), cuts_[1].pieces.longest()) * element_;
    }

private:
    struct Cut {
        std::uint64_t start = 0;   ///< of the channel's share, within the block
        std::uint64_t length = 0;  ///< of the channel's share
        Balanced pieces;
    };
    [[nodiscard]] const Cut& cut_of(std::uint64_t block) const { return cuts_[block < blocks_.extra ? 0 : 1]; }
    void cut_pieces(const Call& call);
    void tally(const Cut& cut, std::uint64_t blocks, MessageTally& tally) const;

    Balanced blocks_;
    std::array<Cut, 2> cuts_{};  ///< of a long and of a short block
    std::uint64_t block_count_ = 1;
    std::uint64_t start_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t element_ = 1;  ///< bytes; all other numbers count elements
};

}  // namespace gradstorm::collective
