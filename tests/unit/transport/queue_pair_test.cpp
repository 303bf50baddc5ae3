// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/queue_pair.h"

#include "engine/transport/endpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace gradstorm::transport {
namespace {

TEST(CompletionStatus, EachHasANameOfItsOwn) {
    std::set<std::string> names;
    for (int code = 0; code <= static_cast<int>(CompletionStatus::flushed); ++code) {
        names.emplace(to_string(static_cast<CompletionStatus>(code)));
    }
    EXPECT_EQ(names.size(), 8u);
    EXPECT_FALSE(names.contains(""));
}

/// Every field a different value, whatever fields there are.
HcaCounters numbered(std::uint64_t start) {
    HcaCounters counters;
    static_assert(sizeof(HcaCounters) % sizeof(std::uint64_t) == 0);
    std::uint64_t fields[sizeof(HcaCounters) / sizeof(std::uint64_t)];
    for (std::uint64_t& field : fields) field = start++;
    std::memcpy(&counters, fields, sizeof counters);
    return counters;
}

TEST(HcaCounters, SumAndDifferenceCoverEveryField) {
    HcaCounters sum = numbered(100);
    sum += numbered(1000);
    EXPECT_NE(sum, numbered(1000));
    EXPECT_EQ(sum - numbered(1000), numbered(100));
    EXPECT_EQ(sum - numbered(100), numbered(1000));
    EXPECT_EQ(sum.tx_data_frames, 1100u);
    EXPECT_EQ(sum.timeouts, 1100u + 2 * (sizeof(HcaCounters) / sizeof(std::uint64_t) - 1));
}

}  // namespace
}  // namespace gradstorm::transport
