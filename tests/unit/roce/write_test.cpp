// SPDX-License-Identifier: Apache-2.0
// Streams of WRITEs without faults: what arrives, what completes, what is counted.
#include "tests/unit/roce/rig.h"

namespace gradstorm::roce::test {
namespace {

TEST(Write, OneMessageArrivesAndCompletes) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 42, 0, 1U << 20U)));
    rig.run_until_quiet();
    ASSERT_EQ(rig.side(0).completions.size(), 1U) << rig.side(0).hca.describe(qp);
    EXPECT_EQ(rig.side(0).completions[0].id, 42U);
    EXPECT_EQ(rig.side(0).completions[0].status, CompletionStatus::success);
    EXPECT_TRUE(rig.side(1).completions.empty());
    EXPECT_TRUE(rig.equal(0, 1U << 20U));
    EXPECT_FALSE(rig.equal(1U << 20U, 4096));
    const auto sent = rig.side(0).hca.counters(0);
    EXPECT_EQ(sent.tx_data_frames, 256U);
    EXPECT_EQ(sent.tx_payload_bytes, 1U << 20U);
    EXPECT_EQ(sent.tx_retransmitted_frames, 0U);
    // FIRST 70 + 4096 + 4, 255 others of 54 + 4096 + 4, and 24 B of FCS, preamble and gap each.
    EXPECT_EQ(sent.tx_data_wire_bytes, (4170U + 24) + 255U * (4154U + 24));
    EXPECT_EQ(sent.tx_wire_bytes, sent.tx_data_wire_bytes);
    const auto received = rig.side(1).hca.counters(0);
    EXPECT_EQ(received.rx_frames, 256U);
    EXPECT_EQ(received.rx_wire_bytes, sent.tx_wire_bytes);
    EXPECT_EQ(received.rx_payload_bytes, 1U << 20U);
    EXPECT_GE(received.tx_ack_frames, 1U);
    EXPECT_LE(received.tx_ack_frames, 5U);
    EXPECT_EQ(rig.side(0).watched.wrong_icrc + rig.side(1).watched.wrong_icrc, 0U);
}

}  // namespace
}  // namespace gradstorm::roce::test
