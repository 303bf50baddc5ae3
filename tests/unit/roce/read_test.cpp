// SPDX-License-Identifier: Apache-2.0
// READs: their order among other requests, their limits, and lost responses.
#include "tests/unit/roce/rig.h"

namespace gradstorm::roce::test {
namespace {

using fabric::Fault;
using fabric::has_opcode;

constexpr std::uint32_t kLong = 100 * 4096;

bool is_response(const wire::Frame& frame) {
    const auto opcode = fabric::opcode_of(frame);
    return opcode && wire::is_read_response(*opcode);
}

TEST(Read, AFenceWaitsForReads) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    std::size_t responses_before_write = 0;
    rig.side(1).port.observe = [&](const wire::DecodedFrame& frame) {
        if (wire::is_read_response(frame.headers.bth.opcode)) ++responses_before_write;
    };
    rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) {
        if (!wire::is_write(frame.headers.bth.opcode)) return;
        EXPECT_EQ(responses_before_write, 3U);
    };
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 3 * 4096, Opcode::read)));
    WorkRequest write = rig.write(qp, 2, 65536, 100);
    write.fence = true;
    ASSERT_TRUE(rig.post(write));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 2U);
    EXPECT_TRUE(rig.equal(0, 3 * 4096));
}

TEST(Read, MoreReadsThanTheLimitTakeTurns) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    for (std::uint64_t i = 0; i < 100; ++i) {
        ASSERT_TRUE(rig.post(rig.write(qp, i, i * 8192, 5000, Opcode::read)));
    }
    rig.run_until_quiet();
    ASSERT_EQ(rig.side(0).completions.size(), 100U);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(rig.equal(i * 8192, 5000));
    EXPECT_EQ(rig.side(1).hca.counters(0).tx_payload_bytes, 500'000U);
    EXPECT_EQ(rig.side(0).hca.counters(0).rx_payload_bytes, 500'000U);
}

TEST(Read, NoMoreReadsAreInFlightThanTheResponderHolds) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    std::int64_t in_flight = 0;
    std::int64_t most = 0;
    rig.side(0).port.observe = [&](const wire::DecodedFrame& frame) {
        if (frame.headers.bth.opcode == wire::Opcode::read_request) most = std::max(most, ++in_flight);
    };
    rig.side(1).port.observe = [&](const wire::DecodedFrame& frame) {
        const wire::Opcode opcode = frame.headers.bth.opcode;
        if (wire::is_read_response(opcode) && wire::is_last(opcode)) --in_flight;
    };
    for (std::uint64_t i = 0; i < 60; ++i) ASSERT_TRUE(rig.post(rig.write(qp, i, i * 8192, 5000, Opcode::read)));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 60U);
    EXPECT_EQ(most, 16);
}

TEST(Read, AnAcknowledgementWaitsForTheReadsInFrontOfIt) {
    Rig rig({.egress_frames = 8});  // so that the response is still under way when the WRITE comes
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong, Opcode::read)));  // more than one turn
    ASSERT_TRUE(rig.post(rig.write(qp, 2, 1U << 20U, 100)));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 2U);
    EXPECT_TRUE(rig.equal(0, kLong));
    for (std::size_t side = 0; side < 2; ++side) {
        const auto counters = rig.side(side).hca.counters(0);
        EXPECT_EQ(counters.tx_retransmitted_frames + counters.timeouts + counters.rx_duplicate_frames, 0U);
    }
}

TEST(Read, ALostReadResponseIsAskedForAgainWithoutATimeout) {
    for (const std::uint64_t lost : {0U, 50U, 99U}) {  // of 100 frames; the last is missed by the ACK behind it
        Rig rig;
        rig.side(1).network.script({.fault = Fault::drop, .matches = is_response, .first = lost});
        const QueuePairIndex qp = rig.connect();
        ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong, Opcode::read)));
        ASSERT_TRUE(rig.post(rig.write(qp, 2, 1U << 20U, 100)));
        rig.run_until_quiet();
        EXPECT_EQ(rig.side(0).completions.size(), 2U);
        EXPECT_TRUE(rig.equal(0, kLong));
        EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U) << lost;
        EXPECT_GT(rig.side(1).hca.counters(0).tx_retransmitted_frames, 0U);
        EXPECT_EQ(rig.side(1).hca.counters(0).tx_payload_bytes, kLong);
        EXPECT_EQ(rig.side(0).hca.counters(0).rx_payload_bytes, kLong);
    }
}

TEST(Read, ANakBehindLostResponsesGoesBackOnceAndToThem) {
    Rig rig;
    rig.side(1).network.script({.fault = Fault::drop, .matches = is_response, .first = 5, .count = 5});
    rig.side(0).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::write_only)});
    const QueuePairIndex qp = rig.connect({.retry_limit = 1});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 10 * 4096, Opcode::read)));
    ASSERT_TRUE(rig.post(rig.write(qp, 2, 1U << 20U, 4096)));
    ASSERT_TRUE(rig.post(rig.write(qp, 3, 2U << 20U, 4096)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector(3, CompletionStatus::success));
    EXPECT_EQ(rig.side(0).hca.counters(0).nak_sequence_received, 1U);
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
    EXPECT_EQ(rig.side(1).hca.counters(0).tx_retransmitted_frames, 5U);
}

/// A WRITE of side 1's to side 0.
WorkRequest write_back(Rig& rig, QueuePairIndex qp, std::size_t offset, std::uint32_t length) {
    return {.id = 9,
            .local_address = rig.side(1).at(offset),
            .remote_address = rig.side(0).at(offset),
            .length = length,
            .local_key = rig.side(1).region.local_key,
            .remote_key = rig.side(0).region.remote_key,
            .queue_pair = qp};
}

TEST(Read, AResponseDoesNotKeepOwnRequestsFromBeingSentAgain) {
    Rig rig({.egress_frames = 8});
    rig.side(1).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::write_only)});
    const QueuePairIndex qp = rig.connect({.timeout = Nanoseconds{10'000}, .retry_limit = 2});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 500 * 4096, Opcode::read)));  // takes 42 us
    ASSERT_TRUE(rig.post(write_back(rig, qp, 3U << 20U, 4096), 1));
    rig.run_until([&] { return !rig.side(1).completions.empty(); });
    EXPECT_TRUE(rig.side(0).completions.empty()) << "the READ still goes on";
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(1).completions), std::vector{CompletionStatus::success});
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
    EXPECT_EQ(rig.side(1).hca.counters(0).timeouts, 1U);
}

TEST(Read, GoingBackOverManyReadsReplacesThoseThatWait) {
    Rig rig;
    rig.side(1).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::read_response_first)});
    const QueuePairIndex qp = rig.connect();
    for (std::uint64_t i = 0; i < 16; ++i) {
        ASSERT_TRUE(rig.post(rig.write(qp, i, i * 50 * 4096, 50 * 4096, Opcode::read)));
    }
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 16U);
    EXPECT_TRUE(rig.equal(0, 16 * 50 * 4096));
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
    EXPECT_LT(rig.side(1).hca.counters(0).tx_retransmitted_frames, 900U) << "once over again, not more";
}

TEST(Read, ManyReadsOfAllLengthsSurviveLossEitherWay) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        // Responses leave slowly, so that READs are asked for again while the first answer is under way.
        Rig rig({.seed = seed, .impairment = {.drop = 0.03, .duplicate = 0.01, .reorder = 0.01}, .egress_frames = 8});
        const QueuePairIndex qp = rig.connect({.path_mtu = 1024});
        for (std::uint64_t i = 0; i < 60; ++i) {
            const auto length = static_cast<std::uint32_t>(1 + i * i * 16 % 60'000);
            ASSERT_TRUE(rig.post(rig.write(qp, i, i * 65'536, length, Opcode::read)));
        }
        rig.run_until_quiet();
        ASSERT_EQ(rig.side(0).completions.size(), 60U);
        for (const Completion& c : rig.side(0).completions) {
            ASSERT_EQ(c.status, CompletionStatus::success) << "seed " << seed << ", READ " << c.id;
        }
    }
}

}  // namespace
}  // namespace gradstorm::roce::test
