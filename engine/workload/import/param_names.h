// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/data_type.h"

#include <array>
#include <cstdint>
#include <string_view>

/// What PyTorch's process groups call things in the traces they record, and what that is here.
namespace gradstorm::workload {

/// Which of the two recorded element counts S comes from.
enum class SizeOf : std::uint8_t { input, output };

struct KnownCollective {
    std::string_view name;  ///< as PyTorch records it
    measure::CollectiveKind kind = measure::CollectiveKind::all_reduce;
    SizeOf size = SizeOf::input;
};

inline constexpr std::array kCollectives{
    KnownCollective{"allreduce", measure::CollectiveKind::all_reduce},
    KnownCollective{"allreduce_coalesced", measure::CollectiveKind::all_reduce},
    KnownCollective{"broadcast", measure::CollectiveKind::broadcast},
    KnownCollective{"_broadcast_oop", measure::CollectiveKind::broadcast},
    KnownCollective{"all_gather", measure::CollectiveKind::all_gather, SizeOf::output},
    KnownCollective{"_allgather_base", measure::CollectiveKind::all_gather, SizeOf::output},
    KnownCollective{"all_gather_into_tensor_coalesced", measure::CollectiveKind::all_gather, SizeOf::output},
    KnownCollective{"allgather_into_tensor_coalesced", measure::CollectiveKind::all_gather, SizeOf::output},
    KnownCollective{"reduce_scatter", measure::CollectiveKind::reduce_scatter},
    KnownCollective{"_reduce_scatter_base", measure::CollectiveKind::reduce_scatter},
    KnownCollective{"reduce_scatter_tensor_coalesced", measure::CollectiveKind::reduce_scatter},
    KnownCollective{"all_to_all", measure::CollectiveKind::all_to_all},
    KnownCollective{"all_to_allv", measure::CollectiveKind::all_to_all},
};

/// Recorded like collectives, but no traffic of their own that a replay repeats.
inline constexpr std::array<std::string_view, 3> kNoTraffic{"wait", "barrier", "init"};

struct KnownType {
    std::string_view name;  ///< of PyTorch's scalar type
    measure::DataType type = measure::DataType::float32;
};

/// Char and Bool are bytes to a network.
inline constexpr std::array kTypes{
    KnownType{"Float", measure::DataType::float32}, KnownType{"Double", measure::DataType::float64},
    KnownType{"Half", measure::DataType::float16},  KnownType{"BFloat16", measure::DataType::bfloat16},
    KnownType{"Int", measure::DataType::int32},     KnownType{"Long", measure::DataType::int64},
    KnownType{"Byte", measure::DataType::uint8},    KnownType{"Char", measure::DataType::uint8},
    KnownType{"Bool", measure::DataType::uint8}};

}  // namespace gradstorm::workload
