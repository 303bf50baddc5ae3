// SPDX-License-Identifier: Apache-2.0
// What a queue pair does not accept: wrong requests of its own side, of its peer, and frames of nobody.
#include "engine/wire/aeth.h"
#include "tests/unit/roce/rig.h"

namespace gradstorm::roce::test {
namespace {

using fabric::Fault;
using fabric::has_opcode;

constexpr std::uint32_t kLong = 100 * 4096;

/// Sends a frame that no queue pair of side 1 built.
void forge(Rig& rig, std::uint32_t qpn, const std::function<void(wire::FrameHeaders&)>& edit) {
    wire::FrameHeaders headers;
    headers.ethernet = {.destination = Rig::address(0, false).mac, .source = Rig::address(1, false).mac, .vlan = {}};
    headers.ip.source = Rig::address(1, false).ip;
    headers.ip.destination = Rig::address(0, false).ip;
    headers.bth.destination_qpn = qpn;
    edit(headers);
    wire::Frame frame;
    ASSERT_EQ(rig.side(1).port.allocate({&frame, 1}), 1U);
    const wire::Frame encoded = wire::encode(headers, 0, frame.buffer);
    frame.offset = encoded.offset;
    frame.length = encoded.length;
    wire::seal(frame);
    ASSERT_EQ(rig.side(1).port.send({&frame, 1}), 1U);
}

testing::AssertionResult describes(Rig& rig, std::size_t side, QueuePairIndex qp, const char* reason) {
    const std::string line = rig.side(side).hca.describe(qp);
    if (line.find(reason) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "\"" << line << "\" does not say: " << reason;
}

struct BadAccess {
    const char* name;
    std::int64_t address_shift;
    std::uint32_t key_flip;
    std::uint32_t length;
};

TEST(Refusal, BadRemoteAccessIsRefusedAndWritesNothing) {
    const auto memory = static_cast<std::int64_t>(Rig::kMemory);
    const BadAccess cases[] = {{"key", 0, 0x100, 4096},      {"key tag", 0, 0x01, 4096},
                               {"below", -1, 0, 4096},       {"end", memory - 4095, 0, 4096},
                               {"beyond", memory + 1, 0, 1}, {"long", 4096, 0, static_cast<std::uint32_t>(memory)}};
    for (const BadAccess& bad : cases) {
        for (const Opcode opcode : {Opcode::write, Opcode::read}) {
            SCOPED_TRACE(std::string{bad.name} + (opcode == Opcode::read ? " read" : " write"));
            Rig rig;
            const QueuePairIndex qp = rig.connect();
            const auto before = rig.side(1).memory;
            ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 100)));  // a good one in front
            WorkRequest request = rig.write(qp, 2, 0, bad.length, opcode);
            request.remote_address += static_cast<std::uint64_t>(bad.address_shift);
            request.remote_key ^= bad.key_flip;
            ASSERT_TRUE(rig.post(request));
            ASSERT_TRUE(rig.post(rig.write(qp, 3, 0, 100)));
            ASSERT_TRUE(rig.post_receive(1, {.id = 4, .queue_pair = qp}));
            rig.run_until_quiet();
            EXPECT_EQ(statuses(rig.side(0).completions),
                      (std::vector{CompletionStatus::success, CompletionStatus::remote_access_error,
                                   CompletionStatus::flushed}));
            EXPECT_EQ(std::memcmp(before.data() + 100, rig.side(1).memory.data() + 100, before.size() - 100), 0);
            EXPECT_EQ(statuses(rig.side(1).completions), std::vector{CompletionStatus::flushed});
            EXPECT_TRUE(describes(rig, 0, qp, "remote access error"));
            EXPECT_TRUE(describes(rig, 1, qp, "refused a request of the peer, its key, bounds or access are wrong"));
        }
    }
}

TEST(Refusal, ALostFatalNakIsSaidAgain) {
    Rig rig;
    rig.side(1).network.script({.fault = Fault::drop, .matches = has_opcode(wire::Opcode::acknowledge)});
    const QueuePairIndex qp = rig.connect();
    WorkRequest request = rig.write(qp, 1, 0, 4096);
    request.remote_key = 0;
    ASSERT_TRUE(rig.post(request));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::remote_access_error});
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 1U);
}

TEST(Refusal, BadLocalAccessFailsInOrderAndSendsNothingOfIt) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    WorkRequest bad = rig.write(qp, 2, 0, 4096);
    bad.local_address = rig.side(0).at(Rig::kMemory - 4095);
    ASSERT_TRUE(rig.post(bad));
    ASSERT_TRUE(rig.post(rig.write(qp, 3, 0, 100)));
    rig.run_until_quiet();
    EXPECT_EQ(
        statuses(rig.side(0).completions),
        (std::vector{CompletionStatus::success, CompletionStatus::local_protection_error, CompletionStatus::flushed}));
    EXPECT_EQ(rig.side(0).hca.counters(0).tx_data_frames, 100U);
}

TEST(Refusal, ABadLocalKeyIsNotHeldAgainstTheRequestInFront) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.retry_limit = 0});
    std::vector<WorkRequest> requests{rig.write(qp, 1, 0, 4096), rig.write(qp, 2, 0, 4096)};
    requests[1].local_key ^= 0x100U;
    ASSERT_EQ(rig.side(0).hca.post(requests), 2U);
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions),
              (std::vector{CompletionStatus::success, CompletionStatus::local_protection_error}));
    EXPECT_EQ(rig.side(0).hca.counters(0).timeouts, 0U);
}

TEST(Refusal, ADeadQueuePairSaysNotReadyNoMore) {
    Rig rig;
    const QueuePairIndex qp = rig.connect({.retry_limit = 2});  // and RNR retries for ever
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 0, Opcode::write_with_immediate)));
    ASSERT_TRUE(rig.run_until([&] { return rig.side(0).hca.counters(0).rnr_nak_received == 1; }));
    WorkRequest bad = rig.write(qp, 2, 0, 4096);
    bad.local_key = 1;
    ASSERT_TRUE(rig.post(bad, 1));  // ends side 1
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(1).completions), std::vector{CompletionStatus::local_protection_error});
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::retry_exceeded});
    EXPECT_EQ(rig.side(0).hca.counters(0).rnr_nak_received, 1U);
}

TEST(Refusal, ASendLargerThanItsReceiveIsRefused) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post_receive(1, {.id = 5,
                                     .local_address = rig.side(1).at(0),
                                     .length = 4999,
                                     .local_key = rig.side(1).region.local_key,
                                     .queue_pair = qp}));
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 5000, Opcode::send)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::remote_invalid_request});
    EXPECT_EQ(statuses(rig.side(1).completions), std::vector{CompletionStatus::local_protection_error});
    EXPECT_TRUE(describes(rig, 1, qp, "refused a request of the peer, it is not valid"));
}

TEST(Refusal, AReceiveWithABadKeyIsRefused) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post_receive(
        1, {.id = 5, .local_address = rig.side(1).at(0), .length = 4096, .local_key = 1, .queue_pair = qp}));
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 100, Opcode::send)));
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::remote_operational_error});
    EXPECT_EQ(statuses(rig.side(1).completions), std::vector{CompletionStatus::local_protection_error});
    EXPECT_TRUE(describes(rig, 1, qp, "refused a request of the peer, the receive posted for it is wrong"));
    EXPECT_FALSE(rig.equal(0, 100));
}

TEST(Refusal, CorruptedFramesAreDroppedAndCounted) {
    Rig rig;
    // A bit of the payload: only a full check of the ICRC sees it.
    rig.side(0).network.script(
        {.fault = Fault::corrupt, .matches = has_opcode(wire::Opcode::write_middle), .first = 3, .bit = 2000 * 8});
    const QueuePairIndex qp = rig.connect();
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, kLong)));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(1).hca.counters(0).rx_icrc_errors, 1U);
    EXPECT_TRUE(rig.equal(0, kLong));
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::success});
}

TEST(Refusal, AcknowledgementsOfWhatWasNeverSentAreIgnored) {
    Rig rig;
    rig.side(0).network.impair_all({.drop = 1});
    const QueuePairIndex qp = rig.connect({.retry_limit = 1, .initial_psn = 100});
    ASSERT_TRUE(rig.post(rig.write(qp, 1, 0, 4096)));
    const std::uint32_t qpn = rig.side(0).hca.address_of(qp).qpn;
    rig.step();
    for (const std::uint32_t psn : {99U, 101U, 200U, 0x80'0000U}) {  // PSN 100 is in flight
        for (const std::uint8_t syndrome :
             {wire::ack_syndrome(), wire::nak_syndrome(wire::NakCode::remote_access_error),
              wire::rnr_nak_syndrome(1)}) {
            forge(rig, qpn, [&](wire::FrameHeaders& headers) {
                headers.bth.opcode = wire::Opcode::acknowledge;
                headers.bth.psn = psn;
                headers.aeth.syndrome = syndrome;
            });
        }
    }
    rig.run_until_quiet();
    EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::retry_exceeded});
    EXPECT_EQ(rig.side(0).hca.counters(0).rnr_nak_received, 0U);
}

TEST(Refusal, BrokenMessagesEndTheQueuePairWithoutAWrite) {
    using wire::Opcode;
    for (const Opcode opcode : {Opcode::write_middle, Opcode::write_last, Opcode::send_middle, Opcode::write_first}) {
        Rig rig;
        const QueuePairIndex qp = rig.connect();
        const auto before = rig.side(0).memory;
        ASSERT_TRUE(rig.post_receive(0, {.id = 1, .queue_pair = qp}));
        forge(rig, rig.side(0).hca.address_of(qp).qpn, [&](wire::FrameHeaders& headers) {
            headers.bth.opcode = opcode;  // no message is open; a FIRST must be full
            headers.reth = {
                .virtual_address = rig.side(0).at(0), .remote_key = rig.side(0).region.remote_key, .length = 8192};
        });
        rig.run_until_quiet();
        EXPECT_EQ(statuses(rig.side(0).completions), std::vector{CompletionStatus::flushed});
        EXPECT_EQ(rig.side(0).hca.counters(0).tx_ack_frames, 1U);
        EXPECT_EQ(rig.side(0).memory, before);
    }
}

TEST(Refusal, ForeignFramesAreDiscardedAndCounted) {
    Rig rig;
    const QueuePairIndex qp = rig.connect();
    static_cast<void>(qp);
    wire::FrameHeaders headers;
    headers.ethernet = {.destination = Rig::address(1, false).mac, .source = Rig::address(0, false).mac, .vlan = {}};
    headers.ip.source = Rig::address(0, false).ip;
    headers.ip.destination = Rig::address(1, false).ip;
    headers.bth.opcode = wire::Opcode::write_only;
    for (const std::uint32_t qpn : {0U, 1U, 3U, 0xFF'FFFFU}) {
        headers.bth.destination_qpn = qpn;
        wire::Frame frame;
        ASSERT_EQ(rig.side(0).port.allocate({&frame, 1}), 1U);
        const wire::Frame encoded = wire::encode(headers, 0, frame.buffer);
        frame.offset = encoded.offset;
        frame.length = encoded.length;
        wire::seal(frame);
        ASSERT_EQ(rig.side(0).port.send({&frame, 1}), 1U);
    }
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(1).hca.counters(0).rx_discarded_frames, 4U);
    EXPECT_EQ(rig.side(1).hca.counters(0).rx_frames, 4U);
}

}  // namespace
}  // namespace gradstorm::roce::test
