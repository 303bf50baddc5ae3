// SPDX-License-Identifier: Apache-2.0
#include "engine/collective/schedule.h"

#include "engine/collective/algorithms.h"
#include "engine/collective/partition.h"
#include "engine/collective/step_cursor.h"

#include <fmt/format.h>

#include <string>

namespace gradstorm::collective {

namespace {

class EmptyCursor final : public Cursor {
public:
    std::size_t next(std::span<Op>) override { return 0; }
    void restart() override {}
    [[nodiscard]] std::unique_ptr<Cursor> clone() const override { return std::make_unique<EmptyCursor>(); }
};

/// What is wrong with the call; empty: nothing.
std::string fault_of(const Call& call) {
    const std::uint32_t element = measure::size_of(call.type);
    if (call.ranks < 2) return fmt::format("{} rank is no group, it takes at least 2", call.ranks);
    if (call.channels == 0) return "0 channels, it takes at least 1";
    if (call.fidelity == Fidelity::messages && call.chunk.value == 0) return "chunks of 0 bytes";
    if (call.kind == measure::CollectiveKind::barrier) return {};
    if (call.bytes.value % element != 0) {
        return fmt::format("{} bytes are no whole number of {} elements of {} bytes", call.bytes.value,
                           measure::to_string(call.type), element);
    }
    if (call.kind == measure::CollectiveKind::broadcast && call.root >= call.ranks) {
        return fmt::format("root {} is not one of the ranks 0 to {}", call.root, call.ranks - 1);
    }
    if (call.kind == measure::CollectiveKind::send_receive && (call.from >= call.ranks || call.to >= call.ranks)) {
        return fmt::format("from {} to {} is no pair of the ranks 0 to {}", call.from, call.to, call.ranks - 1);
    }
    return {};
}

}  // namespace

std::unique_ptr<Cursor> empty_cursor() { return std::make_unique<EmptyCursor>(); }

Result<std::unique_ptr<const Schedule>> make_schedule(const Call& call) {
    if (const std::string fault = fault_of(call); !fault.empty()) {
        return failure(ErrorCode::invalid_input, fmt::format("{}: {}", measure::to_string(call.kind), fault));
    }
    switch (call.kind) {
        case measure::CollectiveKind::all_reduce: return ring_all_reduce(call);
        case measure::CollectiveKind::reduce_scatter: return ring_reduce_scatter(call);
        case measure::CollectiveKind::all_gather: return ring_all_gather(call);
        case measure::CollectiveKind::broadcast: return ring_broadcast(call);
        case measure::CollectiveKind::all_to_all: return pairwise_all_to_all(call);
        case measure::CollectiveKind::send_receive: return direct_send_receive(call);
        case measure::CollectiveKind::barrier: return ring_barrier(call);
    }
    return failure(ErrorCode::unsupported, "a collective of a kind that this version does not know");
}

std::vector<RankClass> rank_classes(const Schedule& schedule) {
    const std::vector<std::uint32_t> starts = schedule.class_starts();
    std::vector<RankClass> classes;
    classes.reserve(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::uint32_t end = i + 1 < starts.size() ? starts[i + 1] : schedule.call().ranks;
        classes.push_back({starts[i], end - starts[i], schedule.totals(starts[i])});
    }
    return classes;
}

BufferSizes buffer_sizes(const Call& call, std::uint32_t rank) {
    const Bytes whole = call.bytes;
    const Bytes none{};
    switch (call.kind) {
        case measure::CollectiveKind::all_reduce: return {whole, whole, none};
        case measure::CollectiveKind::reduce_scatter:
            return {whole, Bytes{rank_block(call, rank).length}, call.ranks > 2 ? whole : none};
        case measure::CollectiveKind::all_gather: return {Bytes{rank_block(call, rank).length}, whole, none};
        case measure::CollectiveKind::broadcast: return {rank == call.root ? whole : none, whole, none};
        case measure::CollectiveKind::all_to_all:
            return {whole, Bytes{call.ranks * rank_block(call, rank).length}, none};
        case measure::CollectiveKind::send_receive: {
            const bool pair = call.from != call.to;
            return {!pair || rank == call.from ? whole : none, !pair || rank == call.to ? whole : none, none};
        }
        case measure::CollectiveKind::barrier: break;
    }
    return {};
}

}  // namespace gradstorm::collective
