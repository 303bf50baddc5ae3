// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/pattern_book.h"

#include "engine/collective/partition.h"

namespace gradstorm::replay {

using collective::Call;
using measure::CollectiveKind;

bool reduces(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

const memory::Pattern& PatternBook::of(const Call& call, std::uint32_t rank, std::uint32_t call_index) {
    const bool sums = reduces(call.kind);
    const std::uint32_t variant = call_index % kVariants;
    const Key key{sums, call.type, sums ? call.ranks : 0, rank, variant};
    const auto known = patterns_.find(key);
    if (known != patterns_.end()) return known->second;
    const std::uint64_t seed = seed_ * kVariants + variant;
    memory::Pattern pattern = !sums          ? memory::byte_pattern(call.type, seed, rank)
                              : rank == kSum ? memory::sum_pattern(call.type, seed, call.ranks)
                                             : memory::summand_pattern(call.type, seed, rank, call.ranks);
    return patterns_.emplace(key, std::move(pattern)).first->second;
}

const memory::Pattern& PatternBook::source(const Call& call, std::uint32_t rank, std::uint32_t call_index) {
    return of(call, rank, call_index);
}

std::vector<Expectation> PatternBook::expectations(const Call& call, std::uint32_t rank, std::uint32_t call_index,
                                                   std::uint64_t result) {
    std::vector<Expectation> parts;
    std::uint64_t at = 0;
    const auto expect = [&](std::uint32_t of_rank, std::uint64_t phase, std::uint64_t length) {
        if (length != 0) parts.push_back({result + at, at, length, &of(call, of_rank, call_index), phase});
        at += length;
    };
    const std::uint64_t whole = call.bytes.value;
    switch (call.kind) {
        case CollectiveKind::all_reduce: expect(kSum, 0, whole); break;
        case CollectiveKind::reduce_scatter: {
            const collective::Range block = collective::rank_block(call, rank);
            expect(kSum, block.offset, block.length);
            break;
        }
        case CollectiveKind::all_gather:
            for (std::uint32_t from = 0; from < call.ranks; ++from) {
                expect(from, 0, collective::rank_block(call, from).length);
            }
            break;
        case CollectiveKind::broadcast: expect(call.root, 0, whole); break;
        case CollectiveKind::all_to_all: {
            const collective::Range block = collective::rank_block(call, rank);
            for (std::uint32_t from = 0; from < call.ranks; ++from) expect(from, block.offset, block.length);
            break;
        }
        case CollectiveKind::send_receive:
            if (call.from == call.to) {
                expect((rank + call.ranks - 1) % call.ranks, 0, whole);
            } else if (rank == call.to) {
                expect(call.from, 0, whole);
            }
            break;
        case CollectiveKind::barrier: break;
    }
    return parts;
}

}  // namespace gradstorm::replay
