// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gradstorm::replay {
namespace {

using namespace std::chrono_literals;

/// Another process that never finishes, and was last heard of `quiet` ago.
class EndlessPeer final : public cluster::Rendezvous {
public:
    [[nodiscard]] std::uint32_t node() const override { return 0; }
    [[nodiscard]] std::uint32_t nodes() const override { return 2; }
    [[nodiscard]] Result<void> begin(std::string_view, std::string) override { return {}; }
    [[nodiscard]] Result<std::optional<cluster::Blobs>> poll() override { return std::nullopt; }
    [[nodiscard]] Nanoseconds silence() const override { return quiet; }
    void abandon(std::string_view) override {}

    Nanoseconds quiet{0};
};

class WatchdogWithoutRanks : public testing::Test {
protected:
    EndlessPeer peer_;
    const std::vector<std::unique_ptr<Worker>> none_;  // a process whose ranks have all finished
    Watchdog watchdog_{{.stall_timeout = 5s, .stop_timeout = 1s, .stop = nullptr, .phase = "end"}, none_, peer_};
};

TEST_F(WatchdogWithoutRanks, WaitsForAProcessThatLives) {
    for (Instant now{0s}; now < Instant{3600s}; now += 1s) {
        ASSERT_FALSE(watchdog_.look(now).done);
        peer_.quiet = 900ms;
    }
    EXPECT_EQ(watchdog_.ending(), Ending::running);
}

TEST_F(WatchdogWithoutRanks, EndsWhenTheOtherProcessHasFallenSilent) {
    ASSERT_FALSE(watchdog_.look(Instant{10s}).done);
    peer_.quiet = 5s;
    const MonitorResult waiting = watchdog_.look(Instant{15s});
    ASSERT_FALSE(waiting.done);
    peer_.quiet += waiting.deadline - Instant{15s};
    EXPECT_TRUE(watchdog_.look(waiting.deadline).done);
    EXPECT_EQ(watchdog_.ending(), Ending::stalled);
}

}  // namespace
}  // namespace gradstorm::replay
