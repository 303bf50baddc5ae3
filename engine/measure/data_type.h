// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gradstorm::measure {

/// Element types of a collective. Names are those of the profile: "float32", "bfloat16", ...
enum class DataType : std::uint8_t { uint8, int32, int64, float16, bfloat16, float32, float64 };

[[nodiscard]] std::uint32_t size_of(DataType type);  ///< bytes of one element
[[nodiscard]] std::string_view to_string(DataType type);
[[nodiscard]] std::string_view nccl_name(DataType type);  ///< as nccl-tests prints it: "float", "bfloat16", "half", ...
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);

/// The collectives that gradstorm knows, by the names of the profile: "all_reduce", "reduce_scatter", ...
enum class CollectiveKind : std::uint8_t {
    all_reduce,
    reduce_scatter,
    all_gather,
    broadcast,
    all_to_all,
    send_receive,  ///< each rank to the next one, from the previous one; or one pair, where `from` and `to` are given
    barrier,       ///< zero-length messages around the ring; separates iterations, never measured
};

[[nodiscard]] std::string_view to_string(CollectiveKind kind);
[[nodiscard]] std::optional<CollectiveKind> parse_collective_kind(std::string_view name);

/// Bus bandwidth = algorithm bandwidth x this factor, for n ranks; nccl-tests doc/PERFORMANCE.md. 0 for one rank where
/// the factor holds (n-1).
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace gradstorm::measure
