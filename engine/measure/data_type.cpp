// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/data_type.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gradstorm::measure {
namespace {

struct TypeRow {
    std::string_view name;
    std::string_view nccl;
    std::uint32_t size;
};

/// Indexed by DataType.
constexpr std::array kTypes{
    TypeRow{"uint8", "uint8", 1},    TypeRow{"int32", "int32", 4},       TypeRow{"int64", "int64", 8},
    TypeRow{"float16", "half", 2},   TypeRow{"bfloat16", "bfloat16", 2}, TypeRow{"float32", "float", 4},
    TypeRow{"float64", "double", 8},
};

/// Indexed by CollectiveKind.
constexpr std::array<std::string_view, 7> kKinds{"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                                 "all_to_all", "send_receive",   "barrier"};

const TypeRow& row(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::uint32_t size_of(DataType type) { return row(type).size; }
std::string_view to_string(DataType type) { return row(type).name; }
std::string_view nccl_name(DataType type) { return row(type).nccl; }

std::optional<DataType> parse_data_type(std::string_view name) {
    const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& r) { return r.name == name; });
    if (found == kTypes.end()) return std::nullopt;
    return static_cast<DataType>(found - kTypes.begin());
}

std::string_view to_string(CollectiveKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<CollectiveKind> parse_collective_kind(std::string_view name) {
    const auto* found = std::find(kKinds.begin(), kKinds.end(), name);
    if (found == kKinds.end()) return std::nullopt;
    return static_cast<CollectiveKind>(found - kKinds.begin());
}

double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t ranks) {
    if (ranks == 0) return 0;
    const double n = ranks;
    switch (kind) {
        case CollectiveKind::all_reduce: return 2 * (n - 1) / n;
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_gather:
        case CollectiveKind::all_to_all: return (n - 1) / n;
        case CollectiveKind::broadcast:
        case CollectiveKind::send_receive: return 1;
        case CollectiveKind::barrier: return 0;
    }
    return 0;
}

}  // namespace gradstorm::measure
