// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/clock.h"
#include "engine/replay/driver.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gradstorm::replay {

/// What a worker thread does after a step without work.
enum class IdlePolicy : std::uint8_t {
    spin,   ///< steps on: only where every worker has a core to itself
    yield,  ///< gives the core to whoever wants it
    wait,   ///< sleeps for a short time: for shared machines; costs latency
};

/// Cores that this process may run on (its affinity mask), at least 1.
[[nodiscard]] std::uint32_t usable_cores();
/// spin while every worker has a core of its own, else yield. (The control thread sleeps most of the time.)
[[nodiscard]] IdlePolicy automatic_idle_policy(std::uint32_t workers, std::uint32_t cores);
[[nodiscard]] std::string_view to_string(IdlePolicy policy);

struct RealDriverOptions {
    std::optional<IdlePolicy> idle{};  ///< empty: automatic
    /// Binds spinning workers to the first cores that the process may use: where no other process does the same.
    bool bind = false;
    Nanoseconds monitor_interval{std::chrono::milliseconds{1}};
    Nanoseconds park_deadline{std::chrono::seconds{5}};
};

/// One thread a worker, time from the processor's cycle counter. The control thread, the one that calls run(), sleeps
/// between two looks at the run.
class RealDriver final : public Driver {
public:
    RealDriver(measure::TscClock timer, RealDriverOptions options);
    ~RealDriver() override;

    [[nodiscard]] Instant now() const override { return timer_.now(); }
    [[nodiscard]] Result<void> start(std::vector<Worker*> workers) override;
    /// Fails (timeout) when a worker has not parked in time: its thread hangs in a step. Then hung() is true, nothing
    /// that the worker uses may be destroyed, nor the driver, which would wait for the thread: leave them to the end of
    /// the process.
    [[nodiscard]] Result<void> run(const Monitor& monitor) override;
    void wait(const Monitor& monitor) override;

    [[nodiscard]] std::string clock_description() const override { return timer_.description(); }
    [[nodiscard]] double clock_residual_ppm() const override { return timer_.residual_ppm(); }
    [[nodiscard]] bool hung() const { return hung_; }
    /// What is in force: since start(), and with that many workers.
    [[nodiscard]] IdlePolicy idle_policy() const { return idle_; }
    [[nodiscard]] IdlePolicy idle_policy(std::uint32_t workers) const;

private:
    enum class Command : std::uint32_t { park, step, exit };
    static constexpr std::uint32_t kCommandBits = 2;
    static Command command_of(std::uint32_t order) { return static_cast<Command>(order & ((1U << kCommandBits) - 1)); }

    /// Of one thread. Each on its own cache lines: read in every step.
    struct alignas(128) Thread {
        /// A command with a number above it, so that no two orders are equal: a thread that was slow to wake must not
        /// take the second park for the first.
        std::atomic<std::uint32_t> order{0};
        std::atomic<bool> parked{true};
        std::thread thread;
    };

    void serve(Thread& thread, Worker& worker, std::uint32_t index);
    void idle(Instant deadline) const;
    void command_all(Command command);
    void sleep_until(Instant deadline) const;

    measure::TscClock timer_;
    RealDriverOptions options_;
    IdlePolicy idle_ = IdlePolicy::yield;
    bool hung_ = false;
    std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace gradstorm::replay
