// SPDX-License-Identifier: Apache-2.0
#include "engine/collective/partition.h"

namespace gradstorm::collective {

namespace {

std::uint64_t elements_of(const Call& call) { return call.bytes.value / measure::size_of(call.type); }

}  // namespace

std::vector<MessageCount> MessageTally::ascending() const {
    std::vector<MessageCount> result;
    result.reserve(counts_.size());
    for (const auto& [length, count] : counts_) result.push_back({length, count});
    return result;
}

Range rank_block(const Call& call, std::uint32_t rank) {
    const std::uint64_t element = measure::size_of(call.type);
    const Balanced blocks = Balanced::make(elements_of(call), call.ranks);
    return {blocks.offset(rank) * element, blocks.length(rank) * element};
}

Pieces Pieces::of_channel_share(const Call& call, std::uint32_t channel, std::uint32_t blocks) {
    const Balanced shares = Balanced::make(elements_of(call), call.channels);
    Pieces result;
    result.start_ = shares.offset(channel);
    result.block_count_ = blocks;
    result.blocks_ = Balanced::make(shares.length(channel), blocks);
    result.cuts_[0].length = result.blocks_.longest();
    result.cuts_[1].length = result.blocks_.base;
    result.cut_pieces(call);
    return result;
}

Pieces Pieces::of_rank_blocks(const Call& call, std::uint32_t channel) {
    Pieces result;
    result.block_count_ = call.ranks;
    result.blocks_ = Balanced::make(elements_of(call), call.ranks);
    const Balanced of_long = Balanced::make(result.blocks_.longest(), call.channels);
    const Balanced of_short = Balanced::make(result.blocks_.base, call.channels);
    result.cuts_[0] = {of_long.offset(channel), of_long.length(channel), {}};
    result.cuts_[1] = {of_short.offset(channel), of_short.length(channel), {}};
    result.cut_pieces(call);
    return result;
}

void Pieces::cut_pieces(const Call& call) {
    element_ = measure::size_of(call.type);
    const std::uint64_t longest = std::max(cuts_[0].length, cuts_[1].length);
    if (longest == 0) return;
    const std::uint64_t limit = std::max<std::uint64_t>(1, call.chunk.value / element_);
    count_ = call.fidelity == Fidelity::bytes ? 1 : (longest - 1) / limit + 1;
    for (Cut& cut : cuts_) cut.pieces = Balanced::make(cut.length, count_);
}

void Pieces::tally(const Cut& cut, std::uint64_t blocks, MessageTally& tally) const {
    tally.add((cut.pieces.base + 1) * element_, blocks * cut.pieces.extra);
    tally.add(cut.pieces.base * element_, blocks * (count_ - cut.pieces.extra));
}

void Pieces::tally(MessageTally& tally) const {
    this->tally(cuts_[0], blocks_.extra, tally);
    this->tally(cuts_[1], block_count_ - blocks_.extra, tally);
}

void Pieces::tally_all_but(std::uint64_t block, MessageTally& tally) const {
    const bool skips_long = block < blocks_.extra;
    this->tally(cuts_[0], blocks_.extra - (skips_long ? 1 : 0), tally);
    this->tally(cuts_[1], block_count_ - blocks_.extra - (skips_long ? 0 : 1), tally);
}

Range Pieces::whole(std::uint64_t block) const {
    const Cut& cut = cut_of(block);
    return {(start_ + blocks_.offset(block) + cut.start) * element_, cut.length * element_};
}

Range Pieces::whole_in_block(std::uint64_t block) const {
    const Cut& cut = cut_of(block);
    return {cut.start * element_, cut.length * element_};
}

}  // namespace gradstorm::collective
