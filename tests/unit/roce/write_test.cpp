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
    EXPECT_EQ(rig.side(0).port.wrong_icrc + rig.side(1).port.wrong_icrc, 0U);
}

TEST(Write, EverySizeOnEveryMtuArrivesWithTheRightFrames) {
    for (const std::uint32_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
        for (const bool ipv6 : {false, true}) {
            Rig rig({.ipv6 = ipv6});
            const QueuePairIndex qp = rig.connect({.send_depth = 16, .path_mtu = mtu, .window_frames = 4096});
            const std::uint32_t sizes[] = {
                0, 1, 2, 3, 4, 5, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 1U << 20U, (1U << 20U) + 13};
            std::size_t offset = 0;
            std::uint64_t frames = 0;
            std::uint64_t bytes = 0;
            for (const std::uint32_t size : sizes) {
                ASSERT_TRUE(rig.post(rig.write(qp, size, offset, size)));
                offset += size;
                bytes += size;
                frames += size == 0 ? 1 : (size + mtu - 1) / mtu;
            }
            rig.run_until_quiet();
            ASSERT_EQ(rig.side(0).completions.size(), std::size(sizes)) << rig.side(0).hca.describe(qp);
            EXPECT_TRUE(rig.equal(0, offset));
            EXPECT_FALSE(rig.equal(offset, 16));
            const auto sent = rig.side(0).hca.counters(0);
            EXPECT_EQ(sent.tx_data_frames, frames);
            EXPECT_EQ(sent.tx_payload_bytes, bytes);
            EXPECT_EQ(sent.tx_retransmitted_frames + sent.timeouts, 0U);
            EXPECT_EQ(rig.side(1).hca.counters(0).rx_payload_bytes, bytes);
            EXPECT_EQ(rig.side(0).port.wrong_icrc + rig.side(1).port.wrong_icrc, 0U);
        }
    }
}

TEST(Write, SyntheticFramesCarryTheConstantPayloadAndARightIcrc) {
    for (const std::uint32_t mtu : {256U, 1024U, 4096U}) {
        Rig rig({.payload = wire::PayloadMode::synthetic});
        const QueuePairIndex qp = rig.connect({.path_mtu = mtu});
        const wire::SyntheticPayload constant = wire::synthetic_payload(7);
        rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) {
            ASSERT_EQ(std::memcmp(frame.payload.data(), constant.data(), frame.payload.size()), 0);
        };
        const auto before = rig.side(1).memory;
        std::uint64_t id = 0;
        for (int round = 0; round < 3; ++round) {  // short frames must not spoil the buffers of long ones
            for (const std::uint32_t size : {40'000U, 0U, 1U, 101U, mtu - 1, mtu, mtu + 1}) {
                ASSERT_TRUE(rig.post(rig.write(qp, ++id, 0, size)));
            }
            rig.run_until_quiet();
        }
        EXPECT_EQ(rig.side(0).completions.size(), id);
        EXPECT_EQ(rig.side(0).port.wrong_icrc + rig.side(1).port.wrong_icrc, 0U);
        EXPECT_EQ(rig.side(1).memory, before) << "synthetic mode never touches memory";
        EXPECT_EQ(rig.side(1).hca.counters(0).rx_icrc_errors, 0U);
    }
}

/// One long run with 1 % loss: everything arrives, and the same seed gives the same frames at the same times.
TEST(Write, ASoakWithLossIsDeterministic) {
    constexpr std::uint64_t kMessages = 100'000;
    constexpr std::uint32_t kPairs = 8;
    std::uint64_t digests[3] = {};
    for (std::size_t run = 0; run < 3; ++run) {
        Rig rig({.payload = wire::PayloadMode::synthetic, .seed = run == 2 ? 6U : 5U, .impairment = {.drop = 0.01}});
        for (std::size_t side = 0; side < 2; ++side) {
            rig.side(side).port.check_icrc = false;
            rig.side(side).port.keep_digest = true;
        }
        for (std::uint32_t i = 0; i < kPairs; ++i) {
            rig.connect({.send_depth = 16, .timeout = Nanoseconds{100'000}, .initial_psn = 0xFF'F000 + i});
        }
        std::uint64_t posted = 0;
        std::uint64_t received = 0;
        std::uint64_t sent = 0;
        const auto pump = [&] {
            auto& done = rig.side(0).completions;
            auto& arrived = rig.side(1).completions;
            for (const Completion& completion : done) ASSERT_EQ(completion.status, CompletionStatus::success);
            sent += done.size();
            received += arrived.size();
            done.clear();
            arrived.clear();
            for (QueuePairIndex qp = 0; qp < kPairs; ++qp) {
                while (rig.post_receive(1, {.queue_pair = qp})) {
                }
                while (posted < kMessages &&
                       rig.post(rig.write(qp, posted, 0, posted % 3 == 0 ? 8 : 4096, Opcode::write_with_immediate))) {
                    ++posted;
                }
            }
        };
        ASSERT_TRUE(rig.run_until(
            [&] {
                pump();
                return sent == kMessages || testing::Test::HasFatalFailure();
            },
            std::chrono::seconds{100}));
        EXPECT_EQ(received, kMessages);
        EXPECT_EQ(rig.side(1).hca.counters(0).rx_payload_bytes, kMessages / 3 * 2 * 4096 + (kMessages / 3 + 1) * 8);
        EXPECT_GT(rig.side(0).hca.counters(0).tx_retransmitted_frames, 900U);
        digests[run] = rig.side(0).port.digest ^ rig.side(1).port.digest;
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_NE(digests[0], digests[2]);
}

}  // namespace
}  // namespace gradstorm::roce::test
