// SPDX-License-Identifier: Apache-2.0
// The parts that the protocol is built from.
#include "base/ring.h"
#include "engine/roce/memory_regions.h"
#include "engine/roce/psn.h"
#include "engine/roce/timer_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace gradstorm::roce {
namespace {

TEST(Psn, DistancesGoAroundTheCircle) {
    EXPECT_EQ(psn_distance(5, 3), 2);
    EXPECT_EQ(psn_distance(3, 5), -2);
    EXPECT_EQ(psn_distance(0, 0xFF'FFFF), 1);
    EXPECT_EQ(psn_distance(0xFF'FFFF, 0), -1);
    EXPECT_EQ(psn_distance(0x7F'FFFF, 0), 0x7F'FFFF);
    EXPECT_EQ(psn_distance(0x80'0000, 0), -0x80'0000);
    EXPECT_EQ(extend_psn(2, 0x1FF'FFFE), 0x200'0002U);
    EXPECT_EQ(extend_psn(0xFF'FFFF, 0x200'0000), 0x1FF'FFFFU);
}

TEST(MemoryRegions, KeysOpenTheirOwnRangeAlone) {
    MemoryRegions regions;
    const auto a = regions.add(1000, 100);
    const auto b = regions.add(0xFFFF'FFFF'FFFF'FF00, 0x100);  // up to the end of the address space
    EXPECT_NE(a.local_key, a.remote_key);
    EXPECT_TRUE(regions.local_allowed(a.local_key, 1000, 100));
    EXPECT_TRUE(regions.local_allowed(a.local_key, 1100, 0));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 1000, 101));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 999, 1));
    EXPECT_FALSE(regions.local_allowed(a.local_key, 1050, ~std::uint64_t{0}));
    EXPECT_FALSE(regions.local_allowed(a.remote_key, 1000, 1));
    EXPECT_FALSE(regions.remote_allowed(a.local_key, 1000, 1));
    EXPECT_TRUE(regions.remote_allowed(b.remote_key, 0xFFFF'FFFF'FFFF'FFFF, 1));
    EXPECT_FALSE(regions.remote_allowed(b.remote_key, 0xFFFF'FFFF'FFFF'FFFF, 2));
    EXPECT_FALSE(regions.remote_allowed(b.remote_key + 0x100, 1000, 1));
    EXPECT_FALSE(regions.remote_allowed(0, 1000, 1));
}

TEST(TimerHeap, RingsInOrderOfTimeThenIndex) {
    std::mt19937_64 random(3);
    TimerHeap heap;
    heap.resize(100);
    std::set<std::pair<std::int64_t, TimerHeap::Index>> model;
    std::vector<std::int64_t> at(100, -1);
    for (int round = 0; round < 20'000; ++round) {
        if (random() % 3 != 0 || model.empty()) {
            const auto index = static_cast<TimerHeap::Index>(random() % 100);
            const auto when = static_cast<std::int64_t>(random() % 50);
            heap.arm(index, Instant{Nanoseconds{when}});
            if (at[index] < 0 || when < at[index]) {  // only ever earlier
                model.erase({at[index], index});
                model.insert({when, index});
                at[index] = when;
            }
        } else {
            ASSERT_EQ(heap.next(), Instant{Nanoseconds{model.begin()->first}});
            const auto index = heap.pop();
            ASSERT_EQ(index, model.begin()->second);
            model.erase(model.begin());
            at[index] = -1;
        }
    }
}

TEST(Ring, KeepsOrderWhenItGrows) {
    Ring<int> ring;
    ring.reserve(3);
    for (int i = 0; i < 4; ++i) ring.push(i);
    ring.pop();
    ring.push(4);
    ring.reserve(9);
    EXPECT_EQ(ring.capacity(), 16U);
    for (int i = 1; i <= 4; ++i, ring.pop()) EXPECT_EQ(ring.front(), i);
    EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace gradstorm::roce
