// SPDX-License-Identifier: Apache-2.0
//
// Processes meet, exchange and die. The other processes are children of the test, made by fork().
#include "engine/cluster/rendezvous.h"

#include "engine/cluster/stream_rendezvous.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>

namespace gradstorm::cluster {
namespace {

using testing::HasSubstr;
constexpr Nanoseconds kPatience{std::chrono::seconds{10}};

class StreamRendezvousTest : public testing::Test {
protected:
    void SetUp() override { std::filesystem::remove(path_); }
    void TearDown() override {
        for (const pid_t child : children_) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
        }
        std::filesystem::remove(path_);
    }

    /// Runs `body` as node `node` in another process, which then exits with its result.
    pid_t start(std::uint32_t node, std::uint32_t nodes, const std::function<int(Rendezvous&)>& body) {
        const pid_t child = fork();
        if (child == 0) {
            auto joined = StreamRendezvous::join(path_, node, nodes, kPatience);
            if (!joined) _exit(99);
            const int code = body(**joined);
            joined->reset();
            _exit(code);
        }
        children_.push_back(child);
        return child;
    }
    int wait_for(pid_t child) {
        int status = 0;
        waitpid(child, &status, 0);
        std::erase(children_, child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::filesystem::path path_ = fmt::format("/tmp/gradstorm-test-{}.sock", getpid());
    std::vector<pid_t> children_;
};

int exchange_rounds(Rendezvous& rendezvous, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const std::string mine = fmt::format("{}:{}", rendezvous.node(), round);
        const auto blobs = exchange(rendezvous, fmt::format("round {}", round), mine, kPatience);
        if (!blobs || blobs->size() != rendezvous.nodes()) return 1;
        for (std::uint32_t node = 0; node < rendezvous.nodes(); ++node) {
            if ((*blobs)[node] != fmt::format("{}:{}", node, round)) return 2;
        }
    }
    return 0;
}

/// Polls until there is an error; how long that took.
Result<Nanoseconds> time_to_error(Rendezvous& rendezvous, std::string& message) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < kPatience) {
        const auto polled = rendezvous.poll();
        if (!polled) {
            message = polled.error().message;
            return std::chrono::steady_clock::now() - start;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return failure(ErrorCode::timeout, "no error");
}

TEST(LocalRendezvous, GivesBackWhatItGot) {
    LocalRendezvous rendezvous;
    const auto blobs = exchange(rendezvous, "connect", "mine", kPatience);
    ASSERT_TRUE(blobs.has_value());
    EXPECT_EQ(*blobs, Blobs{"mine"});
    EXPECT_FALSE(rendezvous.poll().value().has_value());
}

TEST_F(StreamRendezvousTest, ThreeProcessesExchangeManyTimes) {
    const auto body = [](Rendezvous& rendezvous) { return exchange_rounds(rendezvous, 200); };
    const pid_t one = start(1, 3, body);
    const pid_t two = start(2, 3, body);
    auto joined = StreamRendezvous::join(path_, 0, 3, kPatience);
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    EXPECT_EQ(body(**joined), 0);
    EXPECT_EQ(wait_for(one), 0);
    EXPECT_EQ(wait_for(two), 0);
}

TEST_F(StreamRendezvousTest, LargeBlobsArriveWhole) {
    const auto body = [](Rendezvous& rendezvous) {
        const auto blobs = exchange(rendezvous, "large", std::string(5'000'000, 'a'), kPatience);
        return blobs && (*blobs)[0].size() == 5'000'000 && (*blobs)[1].size() == 5'000'000 ? 0 : 1;
    };
    const pid_t one = start(1, 2, body);
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined.has_value());
    EXPECT_EQ(body(**joined), 0);
    EXPECT_EQ(wait_for(one), 0);
}

TEST_F(StreamRendezvousTest, AKilledPeerIsNamedWithPhaseAtOnce) {
    const pid_t one = start(1, 2, [](Rendezvous& rendezvous) {
        (void)exchange_rounds(rendezvous, 1);
        pause();
        return 0;
    });
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined.has_value());
    ASSERT_EQ(exchange_rounds(**joined, 1), 0);
    ASSERT_TRUE((*joined)->begin("end of repetition 3", "").has_value());
    kill(one, SIGKILL);
    std::string message;
    const auto took = time_to_error(**joined, message);
    ASSERT_TRUE(took.has_value());
    EXPECT_LT(*took, std::chrono::seconds{1});
    EXPECT_THAT(message, HasSubstr(fmt::format("node 1 (pid {}, ", one)));
    EXPECT_THAT(message, HasSubstr("is lost in phase end of repetition 3"));
    EXPECT_FALSE((*joined)->begin("more", "").has_value());
}

TEST_F(StreamRendezvousTest, AProcessThatPollsIsHeardOfAndAStoppedOneIsNot) {
    const pid_t child = start(1, 2, [](Rendezvous& rendezvous) {
        while (rendezvous.poll()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
        return 0;
    });
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined) << joined.error().message;
    StreamRendezvous& rendezvous = **joined;
    const auto poll_until = [&](auto condition) {
        const auto limit = std::chrono::steady_clock::now() + kPatience;
        while (!condition() && std::chrono::steady_clock::now() < limit) {
            ASSERT_TRUE(rendezvous.poll());
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        ASSERT_TRUE(condition());
    };
    using std::chrono::milliseconds;
    for (int beat = 0; beat < 2; ++beat) {
        poll_until([&] { return rendezvous.silence() > milliseconds{100}; });
        poll_until([&] { return rendezvous.silence() < milliseconds{100}; });  // it spoke without being asked
    }
    kill(child, SIGSTOP);
    poll_until([&] { return rendezvous.silence() > milliseconds{800}; });
    kill(child, SIGCONT);
    poll_until([&] { return rendezvous.silence() < milliseconds{800}; });
}

TEST_F(StreamRendezvousTest, EverybodyHearsOfTheLossAlsoOfNodeZero) {
    for (const std::uint32_t victim : {0U, 2U}) {
        const auto victim_body = [](Rendezvous& rendezvous) {
            (void)exchange_rounds(rendezvous, 1);
            pause();
            return 0;
        };
        const auto survivor_body = [victim](Rendezvous& rendezvous) {
            if (exchange_rounds(rendezvous, 1) != 0) return 1;
            std::string message;
            const auto took = time_to_error(rendezvous, message);
            const bool named = message.find(fmt::format("node {} (pid", victim)) != std::string::npos;
            return took && *took < std::chrono::seconds{5} && named ? 0 : 2;
        };
        const pid_t killed = start(victim, 3, victim_body);
        const pid_t first = start(victim == 0 ? 2 : 0, 3, survivor_body);
        const pid_t second = start(1, 3, survivor_body);
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
        kill(killed, SIGKILL);
        EXPECT_EQ(wait_for(first), 0) << victim;
        EXPECT_EQ(wait_for(second), 0) << victim;
        (void)wait_for(killed);
    }
}

TEST_F(StreamRendezvousTest, ANewRunTakesOverTheSocketOfAKilledOne) {
    const pid_t dead = start(0, 2, [](Rendezvous&) { return 0; });
    while (!std::filesystem::exists(path_)) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    kill(dead, SIGKILL);
    (void)wait_for(dead);
    ASSERT_TRUE(std::filesystem::exists(path_));
    const auto body = [](Rendezvous& rendezvous) { return exchange_rounds(rendezvous, 3); };
    const pid_t one = start(1, 2, body);
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined.has_value()) << joined.error().message;
    EXPECT_EQ(body(**joined), 0);
    EXPECT_EQ(wait_for(one), 0);
    joined->reset();
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(StreamRendezvousTest, WhoIsMissingIsNamedWhenTimeIsUp) {
    const auto alone = StreamRendezvous::join(path_, 0, 3, std::chrono::milliseconds{50});
    ASSERT_FALSE(alone.has_value());
    EXPECT_EQ(alone.error().code, ErrorCode::timeout);
    EXPECT_THAT(alone.error().message, HasSubstr("node 1, 2 did not come"));
    const auto lost = StreamRendezvous::join(path_, 1, 2, std::chrono::milliseconds{50});
    ASSERT_FALSE(lost.has_value());
    EXPECT_THAT(lost.error().message, HasSubstr("node 0 does not answer at"));
}

TEST_F(StreamRendezvousTest, AReasonToGiveUpReachesTheOthers) {
    const pid_t one = start(1, 2, [](Rendezvous& rendezvous) {
        rendezvous.abandon("no such device");
        return 0;
    });
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined.has_value());
    std::string message;
    ASSERT_TRUE(time_to_error(**joined, message).has_value());
    EXPECT_THAT(message, HasSubstr("gave up: no such device"));
    EXPECT_EQ(wait_for(one), 0);
}

TEST_F(StreamRendezvousTest, DifferentPhasesAreRefused) {
    const pid_t one = start(1, 2, [](Rendezvous& rendezvous) {
        return exchange(rendezvous, "repetition 4", "", kPatience).has_value() ? 0 : 7;
    });
    auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_TRUE(joined.has_value());
    const auto blobs = exchange(**joined, "repetition 5", "", kPatience);
    ASSERT_FALSE(blobs.has_value());
    EXPECT_THAT(blobs.error().message, HasSubstr("node 1 is in phase repetition 4 while node 0 is in phase"));
    EXPECT_EQ(wait_for(one), 7);
}

TEST_F(StreamRendezvousTest, AnotherNumberOfNodesIsRefused) {
    const pid_t one = start(1, 3, [](Rendezvous&) { return 0; });
    const auto joined = StreamRendezvous::join(path_, 0, 2, kPatience);
    ASSERT_FALSE(joined.has_value());
    EXPECT_THAT(joined.error().message, HasSubstr("expects 3 nodes, node 0 expects 2"));
    EXPECT_EQ(wait_for(one), 99);
}

}  // namespace
}  // namespace gradstorm::cluster
