// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/data_type.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace gradstorm::measure {
namespace {

TEST(DataTypeTest, NamesSizesAndNcclNames) {
    struct Row {
        DataType type;
        std::string_view name;
        std::string_view nccl;
        std::uint32_t size;
    };
    constexpr std::array kRows{
        Row{DataType::uint8, "uint8", "uint8", 1},          Row{DataType::int32, "int32", "int32", 4},
        Row{DataType::int64, "int64", "int64", 8},          Row{DataType::float16, "float16", "half", 2},
        Row{DataType::bfloat16, "bfloat16", "bfloat16", 2}, Row{DataType::float32, "float32", "float", 4},
        Row{DataType::float64, "float64", "double", 8},
    };
    for (const Row& row : kRows) {
        EXPECT_EQ(to_string(row.type), row.name);
        EXPECT_EQ(nccl_name(row.type), row.nccl);
        EXPECT_EQ(size_of(row.type), row.size);
        EXPECT_EQ(parse_data_type(row.name), row.type);
    }
    EXPECT_EQ(parse_data_type("float8"), std::nullopt);
    EXPECT_EQ(parse_data_type(""), std::nullopt);
}

TEST(DataTypeTest, CollectiveNamesRoundTrip) {
    for (const auto* name :
         {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "send_receive", "barrier"}) {
        const auto kind = parse_collective_kind(name);
        ASSERT_TRUE(kind) << name;
        EXPECT_EQ(to_string(*kind), name);
    }
    EXPECT_EQ(parse_collective_kind("allreduce"), std::nullopt);
}

// The factors of the field's benchmark as fractions {numerator, denominator} in n, for every n that people run first.
TEST(DataTypeTest, BusBandwidthFactorsAreExact) {
    for (std::uint32_t n = 1; n <= 64; ++n) {
        const double x = n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, n), 2 * (x - 1) / x) << n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::reduce_scatter, n), (x - 1) / x) << n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_gather, n), (x - 1) / x) << n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_to_all, n), (x - 1) / x) << n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::broadcast, n), 1) << n;
        EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::send_receive, n), 1) << n;
    }
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 2), 1.0);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 8), 1.75);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 16), 1.875);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_to_all, 8), 0.875);
}

TEST(DataTypeTest, OneRankHasNoBusBandwidth) {
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 1), 0);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_gather, 1), 0);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::broadcast, 1), 1);
    EXPECT_EQ(bus_bandwidth_factor(CollectiveKind::all_reduce, 0), 0);
}

}  // namespace
}  // namespace gradstorm::measure
