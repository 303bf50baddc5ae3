// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/call_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace gradstorm::workload {

namespace {

Result<collective::Fidelity> fidelity_of(const profiles::LibrarySettings& library) {
    if (library.fidelity == "bytes") return collective::Fidelity::bytes;
    if (library.fidelity == "messages") return collective::Fidelity::messages;
    return failure(
        ErrorCode::unsupported,
        fmt::format("library.fidelity \"{}\" is not in this version, use \"messages\" or \"bytes\"", library.fidelity));
}

Result<void> check_library(const profiles::LibrarySettings& library) {
    if (library.algorithm != "auto" && library.algorithm != "ring") {
        return failure(ErrorCode::unsupported,
                       fmt::format("library.algorithm \"{}\" is not in this version, use \"ring\" or \"auto\"",
                                   library.algorithm));
    }
    if (library.protocol != "auto" && library.protocol != "simple") {
        return failure(ErrorCode::unsupported,
                       fmt::format("library.protocol \"{}\" is not in this version, use \"simple\" or \"auto\"",
                                   library.protocol));
    }
    return {};
}

Result<void> check_group(std::span<const std::uint32_t> group, std::uint32_t ranks) {
    std::vector<std::uint32_t> sorted(group.begin(), group.end());
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        return failure(ErrorCode::invalid_input, fmt::format("rank {} is in the group twice", *twice));
    }
    if (sorted.back() >= ranks) {
        return failure(
            ErrorCode::invalid_input,
            fmt::format("rank {} of the group is not one of the run's ranks 0 to {}", sorted.back(), ranks - 1));
    }
    return {};
}

/// InfiniBand Architecture Specification, volume 1, 9.7.1: a message has at most 2^31 bytes.
constexpr Bytes kLargestMessage{std::uint64_t{1} << 31U};

}  // namespace

Result<CallBuilder> CallBuilder::make(const profiles::LibrarySettings& library, std::uint32_t ranks) {
    if (ranks > kMostRanks) {
        return failure(ErrorCode::unsupported,
                       fmt::format("{} ranks: this version plans and runs at most {}", ranks, kMostRanks));
    }
    if (auto fine = check_library(library); !fine) return tl::unexpected(fine.error());
    auto fidelity = fidelity_of(library);
    if (!fidelity) return tl::unexpected(fidelity.error());
    CallBuilder builder;
    builder.ranks_ = ranks;
    builder.channels_ = library.channels;
    builder.chunk_ = library.chunk;
    builder.fidelity_ = *fidelity;
    return builder;
}

Result<PlannedCall> CallBuilder::build(collective::Call call, std::span<const std::uint32_t> group,
                                       Nanoseconds gap) const {
    PlannedCall planned;
    planned.gap = gap;
    if (group.empty()) {
        planned.group.resize(ranks_);
        std::iota(planned.group.begin(), planned.group.end(), 0U);
    } else {
        if (auto fine = check_group(group, ranks_); !fine) return tl::unexpected(fine.error());
        planned.group.assign(group.begin(), group.end());
    }
    call.ranks = static_cast<std::uint32_t>(planned.group.size());
    call.channels = channels_;
    call.chunk = chunk_;
    call.fidelity = fidelity_;
    const auto schedule = collective::make_schedule(call);
    if (!schedule) return tl::unexpected(schedule.error());
    // All ranks send pieces of the same blocks: the first rank's largest is as large as any, by one element at most.
    if (const Bytes largest = (*schedule)->totals(0).largest_message; largest > kLargestMessage) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("it takes messages of {}, InfiniBand carries at most {}: set library.fidelity to "
                                   "\"messages\", which cuts them into chunks",
                                   size_text(largest), size_text(kLargestMessage)));
    }
    planned.call = call;
    return planned;
}

std::string size_text(Bytes size) {
    constexpr std::array<const char*, 4> kUnits{"B", "KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    std::uint64_t value = size.value;
    while (value != 0 && value % 1024 == 0 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", value, kUnits.at(unit));
}

}  // namespace gradstorm::workload
