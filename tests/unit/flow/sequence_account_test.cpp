// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/sequence_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace gradstorm::flow {
namespace {

constexpr std::uint32_t kMask = 0xFF'FFFF;

SequenceAccount account_of(std::uint32_t first, const std::vector<std::uint32_t>& arrivals) {
    SequenceAccount account(first);
    for (const std::uint32_t psn : arrivals) account.arrived(psn & kMask);
    return account;
}

TEST(SequenceAccount, InOrderAndAroundTheEnd) {
    SequenceAccount account(kMask - 100);
    for (std::uint32_t i = 0; i < 20'000; ++i) account.arrived((kMask - 100 + i) & kMask);
    EXPECT_EQ(account.counters().in_order, 20'000U);
    EXPECT_EQ(account.missing(), 0U);
    EXPECT_EQ(account.lost_of(20'003), 3U) << "the last ones are missed by the sender's count alone";
}

TEST(SequenceAccount, AGapIsMissingUntilItIsFilled) {
    SequenceAccount account = account_of(10, {10, 11, 14, 15});
    EXPECT_EQ(account.missing(), 2U);
    account.arrived(13);
    EXPECT_EQ(account.counters().reordered, 1U);
    EXPECT_EQ(account.counters().reordering_extent, 2U);
    EXPECT_EQ(account.missing(), 1U);
    account.arrived(13);
    EXPECT_EQ(account.counters().duplicates, 1U);
    account.arrived(12);
    EXPECT_EQ(account.missing(), 0U);
    EXPECT_EQ(account.counters().reordering_extent, 3U);
}

TEST(SequenceAccount, WhatIsTooFarBehindIsNeitherDuplicateNorReordered) {
    SequenceAccount account(0);
    account.arrived(SequenceAccount::kWindow + 5);
    account.arrived(5);  // kWindow behind
    EXPECT_EQ(account.counters().too_late, 1U);
    account.arrived(6);
    EXPECT_EQ(account.counters().reordered, 1U);
    SequenceAccount fresh(100);
    fresh.arrived(99);
    EXPECT_EQ(fresh.counters().too_late, 1U) << "before the first frame";
    EXPECT_EQ(fresh.missing(), 0U);
}

TEST(SequenceAccount, ALongGapForgetsWhatItPassed) {
    SequenceAccount account(0);
    for (std::uint32_t psn = 0; psn < 100; ++psn) account.arrived(psn);
    account.arrived(1'000'000);
    account.arrived(1'000'000 - 4000);  // the same place in the window as a PSN seen long ago
    EXPECT_EQ(account.counters().duplicates, 0U);
    EXPECT_EQ(account.counters().reordered, 1U);
    EXPECT_EQ(account.missing(), 1'000'000U - 100 - 1);
}

/// Against sets that remember everything: loss, duplication and shuffling within the window at random.
TEST(SequenceAccount, AgreesWithABookOfAllPsns) {
    std::mt19937_64 random{11};
    for (int round = 0; round < 50; ++round) {
        const auto first = static_cast<std::uint32_t>(random()) & kMask;
        const std::uint64_t drop = random() % 10;
        const std::uint64_t twice = random() % 10;
        const std::uint64_t reach = 1 + random() % 1'000;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> arrivals;  // time, number
        for (std::uint64_t number = 0; number < 20'000; ++number) {
            if (random() % 100 < drop) continue;
            arrivals.emplace_back(number + random() % reach, number);
            if (random() % 100 < twice) arrivals.emplace_back(number + random() % reach, number);
        }
        std::stable_sort(arrivals.begin(), arrivals.end(), [](auto a, auto b) { return a.first < b.first; });
        SequenceAccount account(first);
        std::set<std::uint64_t> book;
        SequenceCounters expected;
        std::uint64_t latest = 0;
        for (const auto& [time, number] : arrivals) {
            account.arrived(static_cast<std::uint32_t>(first + number) & kMask);
            ++expected.received;
            if (!book.insert(number).second) {
                ++expected.duplicates;
            } else if (book.size() > 1 && number < latest) {
                ++expected.reordered;
                expected.reordering_extent =
                    std::max(expected.reordering_extent, static_cast<std::uint32_t>(latest - number));
            } else {
                ++expected.in_order;
            }
            latest = std::max(latest, number);
        }
        const SequenceCounters& counters = account.counters();
        ASSERT_EQ(counters.received, expected.received);
        ASSERT_EQ(counters.in_order, expected.in_order);
        ASSERT_EQ(counters.duplicates, expected.duplicates);
        ASSERT_EQ(counters.reordered, expected.reordered);
        ASSERT_EQ(counters.reordering_extent, expected.reordering_extent);
        ASSERT_EQ(counters.too_late, 0U);
        ASSERT_EQ(account.missing(), latest + 1 - book.size());
        ASSERT_EQ(account.lost_of(20'000), 20'000 - book.size());
    }
}

}  // namespace
}  // namespace gradstorm::flow
