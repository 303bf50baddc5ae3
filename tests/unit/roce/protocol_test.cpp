// SPDX-License-Identifier: Apache-2.0
// Single rules of the protocol, each provoked by a scripted fault or a wrong request.
#include "engine/wire/aeth.h"
#include "tests/unit/roce/rig.h"

namespace gradstorm::roce::test {
namespace {

using fabric::Fault;
using fabric::has_opcode;

constexpr std::uint32_t kLong = 100 * 4096;

TEST(Protocol, SendDepthOneNeverStalls) {
    for (const std::uint32_t length : {0U, 1U, 4096U, 65536U}) {
        Rig rig;
        const QueuePairIndex qp = rig.connect({.send_depth = 1});
        std::uint64_t posted = 0;
        ASSERT_TRUE(rig.run_until([&] {
            while (posted < 50 && rig.post(rig.write(qp, posted, 0, length))) ++posted;
            return rig.side(0).completions.size() == 50;
        })) << rig.side(0).hca.describe(qp);
        EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
        EXPECT_EQ(rig.side(0).hca.counters(0).tx_retransmitted_frames, 0U);
    }
}

TEST(Protocol, SmallWindowNeverStalls) {
    for (const std::uint32_t window : {1U, 2U, 3U, 7U}) {
        Rig rig;
        const QueuePairIndex qp = rig.connect({.window_frames = window});
        ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
        rig.run_until_quiet();
        EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success}) << window;
        EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
    }
}

TEST(Protocol, PostRefusesWhatTheSendQueueCannotHold) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.send_depth = 3});
    std::vector<WorkRequest> requests;
    for (std::uint64_t id = 0; id < 5; ++id) requests.push_back(rig.write(qp, id, 0, 8));
    EXPECT_EQ(rig.side(0).hca.post(requests), 3U);
    EXPECT_EQ(rig.side(0).hca.post(requests), 0U);
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 3U);
    EXPECT_EQ(rig.side(0).hca.post(requests), 3U);
}

TEST(Protocol, UnsignalledRequestsCompleteInSilenceAndFreeTheirSlots) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.send_depth = 4});
    for (int round = 0; round < 10; ++round) {
        for (std::uint64_t i = 0; i < 4; ++i) {
            WorkRequest request = rig.write(qp, i, 0, 100);
            request.signalled = false;
            ASSERT_TRUE(rig.post(request));
        }
        rig.run_until_quiet();
    }
    EXPECT_TRUE(rig.side(0).completions.empty());
}

TEST(Protocol, ALostFrameCostsOneNakAndOneRetransmission) {
    Rig rig;
    rig.side(0).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::write_middle), .first = 10});
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
    EXPECT_TRUE(rig.equal(0, kLong));
    EXPECT_EQ(rig.side(0).hca.counters(0).nak_sequence_received, 1U);
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
    EXPECT_GT(rig.side(0).hca.counters(0).tx_retransmitted_frames, 0U);
    EXPECT_EQ(rig.side(0).hca.counters(0).tx_data_frames, 100U);  // first transmissions alone
    EXPECT_EQ(rig.side(0).hca.counters(0).tx_payload_bytes, kLong);
    EXPECT_EQ(rig.side(1).hca.counters(0).rx_payload_bytes, kLong);
    EXPECT_GT(rig.side(1).hca.counters(0).rx_out_of_order_frames, 0U);
}

TEST(Protocol, ALostNakIsCoveredByTheTimeout) {
    Rig rig;
    rig.side(0).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::write_middle), .first = 10});
    const auto is_nak = [](const wire::Frame& frame) {
        const auto decoded = wire::decode({frame.data(), frame.length});
        return decoded && decoded->headers.bth.opcode == wire::Opcode::acknowledge &&
               wire::ack_kind(decoded->headers.aeth.syndrome) == wire::AckKind::nak;
    };
    rig.side(1).network.script({.fault = Fault::drop, .matches = is_nak, .count = 1000});
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
    EXPECT_TRUE(rig.equal(0, kLong));
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 1U);
    EXPECT_EQ(rig.side(0).hca.counters(0).nak_sequence_received, 0U);
    EXPECT_EQ(rig.side(1).network.counters().dropped, 1U) << "one NAK a gap";
}

TEST(Protocol, ALostLastAckIsAskedForAgain) {
    Rig rig;
    rig.side(1).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::acknowledge)});
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post_receive(1, {.id = 9, .queue_pair = qp}));
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 4096, Opcode::write_with_immediate)));
    ASSERT_TRUE(rig.run_until([&] { return !rig.side(0).completions.empty(); }));
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
    EXPECT_EQ(rig.side(1).completions.size(), 1U) << "the duplicate must not be executed again";
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 1U);
    EXPECT_EQ(rig.side(1).hca.counters(0).rx_duplicate_frames, 1U);
    EXPECT_GE(rig.now().time_since_epoch(), Nanoseconds{1'000'000});
    EXPECT_LT(rig.now().time_since_epoch(), Nanoseconds{1'100'000});
}

TEST(Protocol, ADeadPeerEndsInRetryExceededInTime) {
    Rig rig;
    rig.side(0).network.impair_all({.drop = 1});
    const QueuePairIndex qp = rig.connect({.timeout = Nanoseconds{100'000}, .retry_limit = 3});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 5000)));
    ASSERT_TRUE(rig.post(rig.write(qp, 2, 0, 5000)));
    ASSERT_TRUE(rig.post_receive(0, {.id = 3, .queue_pair = qp}));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions),
              (std::vector{CompletionStatus::retry_exceeded, CompletionStatus::flushed, CompletionStatus::flushed}));
    // Sent once, then three times again, waiting twice as long each time: 1 + 2 + 4 + 8 timeouts.
    EXPECT_EQ(rig.now().time_since_epoch(), Nanoseconds{1'500'000});
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 4U);
    const std::string line = rig.side(0).hca.describe(qp);
    for (const char* part : {"retry exceeded", "198.18.", "acknowledged to psn 0", "retries 3 of 3", "usual causes"}) {
        EXPECT_NE(line.find(part), std::string::npos) << line;
    }
    EXPECT_EQ(line.find('\n'), std::string::npos);
    // Whatever is posted afterwards is flushed as well.
    ASSERT_TRUE(rig.post(rig.write(qp, 4, 0, 5000)));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.back().status, CompletionStatus::flushed);
    EXPECT_EQ(rig.side(0).completions.back().id, 4U);
}

TEST(Protocol, OnlyWhatWasSentAgainCountsAsARetry) {
    Rig rig({.egress_frames = 1, .line_rate = 1e6});  // a frame blocks the port for 33 ms
    const QueuePairIndex qp = rig.connect({.timeout = Nanoseconds{5'000'000}, .retry_limit = 1});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 4096)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 1U);
}

TEST(Protocol, ProgressResetsTheRetryCount) {
    Rig rig;
    // Every fifth frame is lost for good the first time: far more losses than the limit allows without progress.
    for (std::uint64_t first = 4; first < 100; first += 5) {
        rig.side(0).network.script({.fault = Fault::drop, .first = first});
    }
    const QueuePairIndex qp = rig.connect({.retry_limit = 1});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
}

TEST(Protocol, ReceiverNotReadyWaitsAndTriesAgain) {
    for (const Opcode opcode : {Opcode::send, Opcode::write_with_immediate}) {
        Rig rig;
        const QueuePairIndex qp = rig.connect({.rnr_timer = Nanoseconds{50'000}});
        ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 5000, opcode)));
        const Instant posted_at = Instant{Nanoseconds{210'000}};
        ASSERT_TRUE(rig.run_until([&] { return rig.now() >= posted_at; }));
        EXPECT_TRUE(rig.side(0).completions.empty());
        ASSERT_TRUE(rig.post_receive(1, {.id = 5,
                                         .local_address = rig.side(1).at(0),
                                         .length = 8192,
                                         .local_key = rig.side(1).region.local_key,
                                         .queue_pair = qp}));
        rig.run_until_quiet();
        EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
        ASSERT_EQ(rig.side(1).completions.size(), 1U);
        EXPECT_EQ(rig.side(1).completions[0].length, 5000U);
        EXPECT_TRUE(rig.equal(0, 5000));
        // The timer code above 50 us is 60 us: about four tries in 210 us.
        EXPECT_GE(rig.side(0).hca.counters(0).rnr_nak_received, 3U);
        EXPECT_LE(rig.side(0).hca.counters(0).rnr_nak_received, 4U);
        EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
    }
}

TEST(Protocol, ReceiverNeverReadyEndsInItsOwnError) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.rnr_retry_limit = 2});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 0, Opcode::write_with_immediate)));
    ASSERT_TRUE(rig.post(rig.write(qp, 2, 0, 0, Opcode::write_with_immediate)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions),
              (std::vector{CompletionStatus::rnr_retry_exceeded, CompletionStatus::flushed}));
    EXPECT_NE(rig.side(0).hca.describe(qp).find("posts too few receives"), std::string::npos);
}

TEST(Protocol, CongestionMarksAreAnsweredByRateLimitedCnps) {
    Rig rig({.impairment = {.mark = 1}, .line_rate = 100e9});
    const QueuePairIndex qp = rig.connect({.dscp = 26});
    std::uint64_t becn = 0;
    std::uint8_t dscp = 0;
    rig.side(1).port.observe = [&](const wire::DecodedFrame& frame) {
        if (frame.headers.bth.opcode != wire::Opcode::congestion_notification) return;
        becn += frame.headers.bth.becn ? 1U : 0U;
        dscp = frame.headers.ip.dscp;
    };
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    rig.run_until_quiet();
    const auto receiver = rig.side(1).hca.counters(0);
    EXPECT_EQ(receiver.rx_ecn_marked_frames, 100U);
    // 100 frames of 334 ns each take 33 us: one CNP in 4 us.
    EXPECT_GE(receiver.tx_cnp_frames, 7U);
    EXPECT_LE(receiver.tx_cnp_frames, 9U);
    EXPECT_EQ(rig.side(0).hca.counters(0).rx_cnp_frames, receiver.tx_cnp_frames);
    EXPECT_EQ(becn, receiver.tx_cnp_frames);
    EXPECT_EQ(dscp, 48);
}

TEST(Protocol, PsnsWrapAroundIn24Bits) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.path_mtu = 256, .initial_psn = 0xFF'FFF8});
    std::vector<std::uint32_t> psns;
    rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) { psns.push_back(frame.headers.bth.psn); };
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 16 * 256)));
    rig.run_until_quiet();
    ASSERT_EQ(psns.size(), 16U);
    EXPECT_EQ(psns[7], 0xFF'FFFFU);
    EXPECT_EQ(psns[8], 0U);
    EXPECT_TRUE(rig.equal(0, 16 * 256));
}

TEST(Protocol, AcknowledgementsAreAskedForAtLeastEachQuarterOfTheQueue) {
    for (const std::uint32_t depth : {4U, 16U, 512U}) {
        Rig rig;
        const QueuePairIndex qp = rig.connect({.send_depth = depth});
        std::uint32_t silent = 0;
        std::uint32_t longest = 0;
        rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) {
            silent = frame.headers.bth.ack_request ? 0 : silent + 1;
            longest = std::max(longest, silent);
        };
        for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(rig.post(rig.write(qp, i, 0, 4096)));
        rig.run_until_quiet();
        EXPECT_EQ(rig.side(0).completions.size(), depth);
        EXPECT_LT(longest, std::min(depth / 4, 32U)) << depth;
        EXPECT_EQ(silent, 0U) << "the last frame asks";
    }
}

TEST(Protocol, ALateAcknowledgementMovesARetransmissionForward) {
    Rig rig({.egress_frames = 32});
    // The one acknowledgement that gets through is late: the timeout of 1 ms comes first, and half of the 84 us that
    // sending again takes.
    rig.side(1).network.impair_all({.delay = Nanoseconds{960'000}});
    const auto is_early_ack = [](const wire::Frame& frame) {
        const auto decoded = wire::decode({frame.data(), frame.length});
        return decoded && decoded->headers.bth.opcode == wire::Opcode::acknowledge && decoded->headers.bth.psn < 999;
    };
    rig.side(1).network.script({.fault = Fault::drop, .matches = is_early_ack, .count = 1000});
    const QueuePairIndex qp = rig.connect({.window_frames = 1024});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 1000 * 4096)));
    ASSERT_TRUE(rig.run_until([&] { return !rig.side(0).completions.empty(); }));
    const std::uint64_t again = rig.side(0).hca.counters(0).tx_retransmitted_frames;
    EXPECT_GT(again, 300U);
    EXPECT_LT(again, 700U);
    ASSERT_TRUE(rig.post(rig.write(qp, 2, 0, 1000 * 4096)));  // goes on behind it, not where the retransmission was
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector(2, CompletionStatus::success));
    EXPECT_TRUE(rig.equal(0, 1000 * 4096));
}

TEST(Protocol, CreditsAreCountedApart) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    for (std::uint64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(rig.post_receive(1, {.id = i, .queue_pair = qp}));
        WorkRequest credit = rig.write(qp, i, 0, 0, Opcode::write_with_immediate);
        credit.traffic_class = transport::TrafficClass::clear_to_send;
        ASSERT_TRUE(rig.post(credit));
    }
    rig.run_until_quiet();
    const auto sender = rig.side(0).hca.counters(0);
    EXPECT_EQ(sender.tx_clear_to_send_frames, 5U);
    EXPECT_EQ(sender.tx_data_frames, 0U);
    EXPECT_EQ(sender.tx_payload_bytes, 0U);
    EXPECT_EQ(sender.tx_wire_bytes, 5U * (74 + 4 + 24));
    ASSERT_EQ(rig.side(1).completions.size(), 5U);
    EXPECT_EQ(rig.side(1).completions[4].immediate, 4U ^ 0xA5A5'0000U);
    EXPECT_EQ(rig.side(1).completions[4].kind, CompletionKind::received_immediate);
}

TEST(Protocol, ScarceBuffersAndRoomNeverDeadlock) {
    Rig rig({.buffers = 40, .egress_frames = 3});
    const QueuePairIndex qp = rig.connect();
    std::uint64_t posted[2] = {};
    const auto all = [&] {
        for (std::size_t side = 0; side < 2; ++side) {
            WorkRequest request = rig.write(qp, 0, 0, 50'000);
            if (side == 1) {
                std::swap(request.local_address, request.remote_address);
                request.local_key = rig.side(1).region.local_key;
                request.remote_key = rig.side(0).region.remote_key;
                request.local_address += 1U << 20U;
                request.remote_address += 1U << 20U;
            }
            while (posted[side] < 40 && rig.post(request, side)) ++posted[side];
        }
        return rig.side(0).completions.size() + rig.side(1).completions.size() == 80;
    };
    ASSERT_TRUE(rig.run_until(all)) << rig.side(0).hca.describe(qp);
    EXPECT_EQ(rig.side(0).hca.counters(0).tx_retransmitted_frames, 0U);
}

TEST(Protocol, ManyQueuePairsShareTheWireFairly) {
    Rig rig;
    for (int i = 0; i < 16; ++i) rig.connect();
    for (QueuePairIndex qp = 0; qp < 16; ++qp) ASSERT_TRUE(rig.post(rig.write(qp, qp, qp * 65536, 65536)));
    std::vector<std::uint64_t> frames(32);
    rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) {
        ++frames[frame.headers.bth.destination_qpn];
        const auto [least, most] = std::minmax_element(frames.begin() + 2, frames.begin() + 18);
        EXPECT_LE(*most - *least, 16U);
    };
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 16U);
}

}  // namespace
}  // namespace gradstorm::roce::test
