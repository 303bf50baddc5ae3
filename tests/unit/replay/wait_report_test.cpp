// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/wait_report.h"

#include "engine/replay/connection.h"
#include "engine/replay/connection_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace gradstorm::replay {
namespace {

WaitFor wait(std::uint32_t rank, std::uint32_t peer, WaitKind kind, std::int64_t heard = 0) {
    return {rank, peer, 0, 4, kind, "ddp[0]", Instant{Nanoseconds{heard}}};
}

TEST(WaitFor, ReadsAsASentence) {
    EXPECT_EQ(to_string(wait(3, 2, WaitKind::data)), "rank 3 waits for rank 2, channel 0, step 4 (data) in ddp[0]");
}

TEST(Culprit, IsTheSinkWhenNothingIsUnacknowledged) {
    const std::vector<WaitFor> waits{wait(0, 3, WaitKind::data), wait(1, 0, WaitKind::data),
                                     wait(2, 1, WaitKind::credit)};
    EXPECT_EQ(culprit_of(waits), 3U);
}

TEST(Culprit, SharesMostMissingAcknowledgements) {
    const std::vector<WaitFor> waits{wait(0, 1, WaitKind::acknowledgement), wait(1, 2, WaitKind::acknowledgement),
                                     wait(2, 1, WaitKind::data), wait(3, 2, WaitKind::data)};
    EXPECT_EQ(culprit_of(waits), 1U);
}

TEST(Culprit, IsTheOneNotHeardOfForLongestWhenAllElseIsEqual) {
    const std::vector<WaitFor> waits{wait(0, 1, WaitKind::acknowledgement, 500),
                                     wait(1, 0, WaitKind::acknowledgement, 900)};
    EXPECT_EQ(culprit_of(waits), 1U);
}

TEST(Culprit, IsNobodyWhenNobodyWaits) { EXPECT_EQ(culprit_of({}), std::nullopt); }

TEST(Extend, FollowsCountsOverTheEndOf32Bits) {
    EXPECT_EQ(extend(5, 7), 7U);
    EXPECT_EQ(extend(7, 7), 7U);
    EXPECT_EQ(extend(0xFFFF'FFFFU, 2), 0x1'0000'0002U);
    EXPECT_EQ(extend(0x5'FFFF'FFF0U, 0x10), 0x6'0000'0010U);
}

TEST(ConnectionEnds, SurviveTheWayToAnotherProcess) {
    ConnectionEnd end;
    end.name = {1, 2, 3, 4};
    end.sender = true;
    end.queue_pair = {wire::emulated_hca_address(9), 0x123456, 77, 4096};
    end.arena = 0xFFFF'0000'1234'0000U;
    end.remote_key = 99;
    end.slots = {0xAAAA, 4096, 8};
    const auto back = decode_connection_ends(encode({end, end}));
    ASSERT_TRUE(back.has_value());
    ASSERT_EQ(back->size(), 2U);
    EXPECT_EQ((*back)[1].name, end.name);
    EXPECT_EQ((*back)[1].queue_pair.hca, end.queue_pair.hca);
    EXPECT_EQ((*back)[1].queue_pair.qpn, 0x123456U);
    EXPECT_EQ((*back)[1].arena, end.arena);
    EXPECT_EQ((*back)[1].slots.count, 8U);
    EXPECT_FALSE(decode_connection_ends("1 2 three").has_value());
    end.slots.count = 0;
    EXPECT_FALSE(decode_connection_ends(encode({end})).has_value()) << "message i lands in slot i mod count";
}

}  // namespace
}  // namespace gradstorm::replay
