// SPDX-License-Identifier: Apache-2.0
//
// What drivers owe whatever the workers do: a transport that does nothing but what a test tells its step() to.
#include "engine/memory/null_compute.h"
#include "engine/replay/real_driver.h"
#include "engine/replay/virtual_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

namespace gradstorm::replay {
namespace {

using testing::HasSubstr;

class StepEndpoint final : public transport::Endpoint {
public:
    std::function<StepResult(Instant)> on_step = [](Instant) { return StepResult{}; };

    [[nodiscard]] std::size_t hca_count() const override { return 1; }
    [[nodiscard]] Result<transport::MemoryRegion> register_memory(std::uint64_t, std::uint64_t) override {
        return transport::MemoryRegion{};
    }
    [[nodiscard]] Result<transport::QueuePairIndex> create_queue_pair(const transport::QueuePairAttributes&) override {
        return 0;
    }
    [[nodiscard]] transport::QueuePairAddress address_of(transport::QueuePairIndex) const override { return {}; }
    [[nodiscard]] Result<void> connect(transport::QueuePairIndex, const transport::QueuePairAddress&) override {
        return {};
    }
    [[nodiscard]] transport::HcaCounters counters(std::size_t) const override { return {}; }
    [[nodiscard]] std::string describe(transport::QueuePairIndex) const override { return {}; }
    std::size_t post(std::span<const transport::WorkRequest>) override { return 0; }
    std::size_t post_receive(std::span<const transport::ReceiveRequest>) override { return 0; }
    std::size_t poll(std::span<transport::Completion>) override { return 0; }
    StepResult step(Instant now) override { return on_step(now); }
};

struct OneWorker {
    StepEndpoint endpoint;
    memory::NullCompute compute;
    Worker worker{0, endpoint, compute};
};

MonitorResult done_at_once(Instant) { return {.done = true}; }

TEST(RealDriver, AWorkerThatIsParkedBeforeItWokeIsNotMissed) {
    OneWorker one;
    OneWorker two;
    RealDriver driver(measure::TscClock::calibrate(std::chrono::milliseconds{5}), {});
    ASSERT_TRUE(driver.start({&one.worker, &two.worker}));
    for (int i = 0; i < 1000; ++i) {
        const auto ran = driver.run(done_at_once);
        ASSERT_TRUE(ran) << "segment " << i << ": " << ran.error().message;
    }
}

TEST(RealDriver, AWorkerThatHangsEndsTheRunAllTheSame) {
    OneWorker one;
    std::atomic<bool> let_go{false};
    one.endpoint.on_step = [&](Instant) {
        let_go.wait(false);
        return StepResult{};
    };
    RealDriver driver(measure::TscClock::calibrate(std::chrono::milliseconds{5}),
                      {.park_deadline = std::chrono::milliseconds{50}});
    ASSERT_TRUE(driver.start({&one.worker}));
    const Instant begin = driver.now();
    const auto ran = driver.run([&](Instant now) {  // time enough for the thread to enter the step
        return MonitorResult{.done = now > begin + std::chrono::milliseconds{200}};
    });
    ASSERT_FALSE(ran);
    EXPECT_THAT(ran.error().message, HasSubstr("worker 0 did not come back within 0.05 s"));
    EXPECT_TRUE(driver.hung());
    let_go = true;
    let_go.notify_all();
}

TEST(VirtualDriver, WorkWithoutEndAtOneMomentIsAStandstill) {
    OneWorker one;
    one.endpoint.on_step = [](Instant now) { return StepResult{true, now}; };
    VirtualDriver driver(100);
    ASSERT_TRUE(driver.start({&one.worker}));
    const auto ran = driver.run([](Instant) { return MonitorResult{}; });
    ASSERT_FALSE(ran);
    EXPECT_THAT(ran.error().message, HasSubstr("stands still at 0 ns"));
}

TEST(VirtualDriver, ADeadlineThatIsOverAlreadyIsAStandstillToo) {
    OneWorker one;
    one.endpoint.on_step = [](Instant now) { return StepResult{false, now}; };
    VirtualDriver driver(100);
    ASSERT_TRUE(driver.start({&one.worker}));
    const auto ran = driver.run([](Instant) { return MonitorResult{}; });
    ASSERT_FALSE(ran);
    EXPECT_THAT(ran.error().message, HasSubstr("stands still"));
}

TEST(VirtualDriver, MuchWorkWhileTimeMovesIsNone) {
    OneWorker one;
    bool worked = false;
    one.endpoint.on_step = [&](Instant now) {
        worked = !worked;
        return StepResult{worked, now + Nanoseconds{1}};
    };
    VirtualDriver driver(100);
    ASSERT_TRUE(driver.start({&one.worker}));
    constexpr Instant kEnd{Nanoseconds{5'000}};
    const auto ran = driver.run([&](Instant now) { return MonitorResult{.done = now >= kEnd}; });
    EXPECT_TRUE(ran) << ran.error().message;
}

}  // namespace
}  // namespace gradstorm::replay
