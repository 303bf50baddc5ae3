// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collective/symbolic_memory.h"

#include "engine/collective/partition.h"

#include <algorithm>

namespace gradstorm::collective {

namespace {

using measure::CollectiveKind;

std::uint64_t in_elements(const Call& call, std::uint64_t bytes) { return bytes / measure::size_of(call.type); }

/// Elements [range] of the buffer of S bytes as rank `rank` contributes them.
Elements contributions(const Call& call, std::uint32_t rank, const Range& range) {
    Elements elements;
    const std::uint64_t first = in_elements(call, range.offset);
    for (std::uint64_t i = 0; i < in_elements(call, range.length); ++i) {
        elements.push_back(contribution(rank, first + i));
    }
    return elements;
}

Elements sum_of_all_ranks(const Call& call, const Range& range) {
    Elements total = contributions(call, 0, range);
    for (std::uint32_t rank = 1; rank < call.ranks; ++rank) {
        const Elements share = contributions(call, rank, range);
        for (std::size_t i = 0; i < total.size(); ++i) total[i] = sum(total[i], share[i]);
    }
    return total;
}

void append(Elements& to, const Elements& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

Elements initial_source(const Call& call, std::uint32_t rank) {
    if (buffer_sizes(call, rank).source.value == 0) return {};
    const bool gathers = call.kind == CollectiveKind::all_gather;
    return contributions(call, rank, gathers ? rank_block(call, rank) : Range{0, call.bytes.value});
}

Elements expected_result(const Call& call, std::uint32_t rank) {
    const Range whole{0, call.bytes.value};
    Elements result;
    switch (call.kind) {
        case CollectiveKind::all_reduce: return sum_of_all_ranks(call, whole);
        case CollectiveKind::reduce_scatter: return sum_of_all_ranks(call, rank_block(call, rank));
        case CollectiveKind::all_gather:
            for (std::uint32_t r = 0; r < call.ranks; ++r) append(result, contributions(call, r, rank_block(call, r)));
            return result;
        case CollectiveKind::all_to_all:
            for (std::uint32_t r = 0; r < call.ranks; ++r)
                append(result, contributions(call, r, rank_block(call, rank)));
            return result;
        case CollectiveKind::broadcast: return contributions(call, call.root, whole);
        case CollectiveKind::send_receive:
            if (call.from != call.to) return rank == call.to ? contributions(call, call.from, whole) : Elements{};
            return contributions(call, rank == 0 ? call.ranks - 1 : rank - 1, whole);
        case CollectiveKind::barrier: break;
    }
    return {};
}

RankMemory::RankMemory(const Call& call, std::uint32_t rank)
    : source_(initial_source(call, rank)),
      result_(in_elements(call, buffer_sizes(call, rank).result.value)),
      work_(in_elements(call, buffer_sizes(call, rank).work.value)) {
    if (source_.size() != in_elements(call, buffer_sizes(call, rank).source.value)) throw Fault("size of the source");
}

Elements& RankMemory::buffer(const Region& region) {
    Elements* elements = region.place == Place::source   ? &source_
                         : region.place == Place::result ? &result_
                         : region.place == Place::work   ? &work_
                                                         : nullptr;
    if (elements == nullptr) throw Fault("no such buffer");
    if (region.begin + region.count > elements->size()) throw Fault("outside of the buffer");
    return *elements;
}

Elements RankMemory::begin_read(const Region& region) {
    if (region.count == 0) return {};
    const Elements& elements = buffer(region);
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(region.begin);
    Elements content(begin, begin + static_cast<std::ptrdiff_t>(region.count));
    for (const Element& element : content) {
        if (element.state != Element::State::valid) throw Fault("read of what is not there yet");
    }
    readers_.push_back(region);
    return content;
}

void RankMemory::end_read(const Region& region) {
    if (region.count == 0) return;
    const auto reader = std::find_if(readers_.begin(), readers_.end(), [&](const Region& other) {
        return other.place == region.place && other.begin == region.begin && other.count == region.count;
    });
    readers_.erase(reader);
}

void RankMemory::begin_write(const Region& region) {
    if (region.count == 0) return;
    if (region.place == Place::source) throw Fault("write to a source");
    for (const Region& reader : readers_) {
        if (reader.overlaps(region)) throw Fault("write to what is being read");
    }
    Elements& elements = buffer(region);
    for (std::uint64_t i = region.begin; i < region.begin + region.count; ++i) {
        if (elements[i].state == Element::State::being_written) throw Fault("two writers at once");
        elements[i].state = Element::State::being_written;
    }
}

void RankMemory::end_write(const Region& region, const Elements& content) {
    if (region.count == 0) return;
    std::copy(content.begin(), content.end(), buffer(region).begin() + static_cast<std::ptrdiff_t>(region.begin));
}

}  // namespace gradstorm::collective
