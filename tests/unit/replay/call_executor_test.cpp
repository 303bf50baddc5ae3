// SPDX-License-Identifier: Apache-2.0
//
// One rank's executor by hand: the test plays network, peer and compute engine.
#include "engine/replay/call_executor.h"

#include "tests/unit/replay/loopback_endpoint.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace gradstorm::replay {
namespace {

using collective::Role;

/// Takes jobs and completes none by itself.
class SlowCompute final : public memory::ComputeEngine {
public:
    [[nodiscard]] bool submit(const memory::ComputeJob& job) override {
        jobs.push_back(job);
        return true;
    }
    std::size_t poll(std::span<memory::ComputeCompletion>) override { return 0; }
    [[nodiscard]] bool busy() const override { return false; }
    std::vector<memory::ComputeJob> jobs;
};

class Posted final : public WorkRequestTap {
public:
    void posted(Instant, std::uint32_t, const transport::WorkRequest& request) override { requests.push_back(request); }
    /// Those of one class.
    [[nodiscard]] std::vector<transport::WorkRequest> of(transport::TrafficClass wanted) const {
        std::vector<transport::WorkRequest> found;
        for (const auto& request : requests) {
            if (request.traffic_class == wanted) found.push_back(request);
        }
        return found;
    }
    std::vector<transport::WorkRequest> requests;
};

/// Rank 0 of a ring all-reduce over two ranks: 8 pieces a step, 2 slots, a send depth of 3.
class CallExecutorTest : public testing::Test {
protected:
    static constexpr std::uint64_t kPiece = 1024;
    static constexpr std::uint64_t kPieces = 8;

    CallExecutorTest() {
        collective::Call description;
        description.bytes = Bytes{2 * kPieces * kPiece};
        description.chunk = Bytes{kPiece};
        schedule_ = collective::make_schedule(description).value();
        call_.schedule = schedule_.get();
        call_.label = "test";
        for (const Role role : {Role::send, Role::receive, Role::local}) {
            call_.cursors.push_back(schedule_->cursor(0, 0, role));
        }
        call_.own = {0x1000'0000, 0x2000'0000, 0};
        call_.send_links = {{{1, 0, {0, 0x5000'0000, 0}}}};
        call_.receive_links = {{{1, 0, {}}}};

        sends_[0].name = {0, 0, 1, 0};
        sends_[0].slots = {0x6000'0000, 4096, 2};
        sends_[0].queue.depth = 3;
        sends_[0].posted_at.resize(4);
        receives_[0].name = {0, 1, 0, 0};
        receives_[0].queue_pair = 1;
        receives_[0].slots = {0x3000'0000, 4096, 2};
        receives_[0].queue.depth = 3;
        receives_[0].lengths.resize(2);
        posting_.observe(&posted_, 0);
        executor_ = std::make_unique<CallExecutor>(CallExecutor::Environment{
            .sends = sends_, .receives = receives_, .posting = &posting_, .compute = &compute_});
        executor_->launch(call_);
    }

    void advance() { executor_->advance(Instant{}); }

    LoopbackNetwork network_;
    LoopbackEndpoint endpoint_{network_, 1, false};
    PostingQueue posting_{endpoint_};
    Posted posted_;
    SlowCompute compute_;
    std::unique_ptr<const collective::Schedule> schedule_;
    RankCall call_;
    std::vector<SendConnection> sends_ = std::vector<SendConnection>(1);
    std::vector<ReceiveConnection> receives_ = std::vector<ReceiveConnection>(1);
    std::unique_ptr<CallExecutor> executor_;
};

TEST_F(CallExecutorTest, GrantsAtMostItsSlotsAndTellsThemInOneCredit) {
    advance();
    EXPECT_EQ(receives_[0].granted, 2U);
    const auto credits = posted_.of(transport::TrafficClass::clear_to_send);
    ASSERT_EQ(credits.size(), 1U);
    EXPECT_EQ(credits[0].immediate, 2U);
    EXPECT_EQ(credits[0].length, 0U);
    EXPECT_TRUE(posted_.of(transport::TrafficClass::data).empty());  // nothing granted to us yet
}

TEST_F(CallExecutorTest, ASlotIsGrantedAgainOnlyAfterItsSumIsDone) {
    advance();
    executor_->data_landed(0, Instant{});
    executor_->data_landed(0, Instant{});
    advance();
    ASSERT_EQ(compute_.jobs.size(), 2U);
    EXPECT_EQ(compute_.jobs[0].b, 0x3000'0000U);  // slot 0, then slot 1
    EXPECT_EQ(compute_.jobs[1].b, 0x3000'1000U);
    EXPECT_EQ(receives_[0].granted, 2U);  // both messages are here, but the slots are still being read
    executor_->local_completed(0);
    advance();
    EXPECT_EQ(receives_[0].granted, 3U);
    executor_->data_landed(0, Instant{});
    advance();
    ASSERT_EQ(compute_.jobs.size(), 3U);
    EXPECT_EQ(compute_.jobs[2].b, 0x3000'0000U);
}

TEST_F(CallExecutorTest, SendsAsFarAsCreditsAndTheSendQueueAllow) {
    advance();
    executor_->credit_arrived(0, 2, Instant{});
    advance();
    auto data = posted_.of(transport::TrafficClass::data);
    ASSERT_EQ(data.size(), 2U);
    EXPECT_EQ(data[0].remote_address, 0x6000'0000U);
    EXPECT_EQ(data[1].remote_address, 0x6000'1000U);
    EXPECT_EQ(data[1].immediate, 1U);
    EXPECT_EQ(data[1].local_address, 0x1000'0000U + kPiece);
    EXPECT_EQ(data[1].length, kPiece);
    executor_->credit_arrived(0, 6, Instant{});
    advance();
    EXPECT_EQ(posted_.of(transport::TrafficClass::data).size(), 3U);  // send depth
    executor_->send_acknowledged(0, Instant{});
    advance();
    data = posted_.of(transport::TrafficClass::data);
    ASSERT_EQ(data.size(), 4U);
    EXPECT_EQ(data[3].remote_address, 0x6000'1000U);  // slot 3 mod 2
}

TEST_F(CallExecutorTest, PartialSumsAreSentOnlyWhenTheyAreThere) {
    advance();
    std::uint64_t acknowledged = 0;
    executor_->credit_arrived(0, 16, Instant{});
    for (int i = 0; i < 20; ++i) {
        advance();
        while (acknowledged < sends_[0].queue.posted) {
            executor_->send_acknowledged(0, Instant{});
            ++acknowledged;
        }
    }
    EXPECT_EQ(acknowledged, kPieces);  // all of the source, nothing of the result, whatever was granted
    std::vector<WaitFor> waits;
    executor_->report_waits(0, waits);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(to_string(waits[0]), "rank 0 waits for rank 1, channel 0, step 0 (data) in test");
    for (int i = 0; i < 2; ++i) executor_->data_landed(0, Instant{});
    advance();
    executor_->local_completed(0);
    advance();
    EXPECT_EQ(sends_[0].queue.posted, kPieces + 1);
    EXPECT_EQ(posted_.of(transport::TrafficClass::data).back().local_address, 0x2000'0000U + kPieces * kPiece);
}

TEST_F(CallExecutorTest, WaitsForACreditAndForAnAcknowledgementAreTold) {
    advance();
    std::vector<WaitFor> waits;
    executor_->report_waits(0, waits);
    ASSERT_EQ(waits.size(), 2U);
    EXPECT_EQ(waits[1].kind, WaitKind::credit);
    executor_->credit_arrived(0, 1, Instant{Nanoseconds{5}});
    advance();
    waits.clear();
    executor_->report_waits(0, waits);
    ASSERT_EQ(waits.size(), 2U);
    EXPECT_EQ(waits[1].kind, WaitKind::acknowledgement);
    EXPECT_EQ(waits[1].last_heard, Instant{Nanoseconds{5}});
}

TEST_F(CallExecutorTest, ARankThatIsDoneWaitsForTheAcknowledgementsOfItsCredits) {
    executor_->credit_arrived(0, 16, Instant{});
    std::uint64_t acknowledged = 0;
    std::size_t summed = 0;
    for (int i = 0; i < 100 && !executor_->done(); ++i) {
        advance();
        for (; acknowledged < sends_[0].queue.posted; ++acknowledged) executor_->send_acknowledged(0, Instant{});
        while (receives_[0].queue.posted > receives_[0].queue.completed + 1) executor_->credit_acknowledged(0);
        while (receives_[0].landed < receives_[0].granted) executor_->data_landed(0, Instant{});
        advance();
        for (; summed < compute_.jobs.size(); ++summed) executor_->local_completed(0);
    }
    ASSERT_TRUE(executor_->done());
    ASSERT_FALSE(executor_->quiet());
    std::vector<WaitFor> waits;
    executor_->report_waits(0, waits);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(to_string(waits[0]), "rank 0 waits for rank 1, channel 0, step 0 (acknowledgement) in test");
}

TEST_F(CallExecutorTest, CreditsOwedWaitForRoomAndAreNeverLost) {
    receives_[0].queue.posted = 3;  // the send queue is full of credits
    advance();
    EXPECT_TRUE(posted_.of(transport::TrafficClass::clear_to_send).empty());
    EXPECT_FALSE(executor_->quiet());
    executor_->credit_acknowledged(0);
    EXPECT_TRUE(executor_->send_credits());
    ASSERT_EQ(posted_.of(transport::TrafficClass::clear_to_send).size(), 1U);
    EXPECT_EQ(posted_.of(transport::TrafficClass::clear_to_send)[0].immediate, 2U);
}

}  // namespace
}  // namespace gradstorm::replay
