// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/real_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace gradstorm::replay {

namespace {

constexpr Nanoseconds kLongestNap{std::chrono::microseconds{50}};

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Binds this thread to the index-th of the cores that the process may run on, if there are so many.
void bind_to_core(std::uint32_t index) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &usable) || index-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);  // a core that went away: the kernel places us
        return;
    }
}

}  // namespace

std::uint32_t usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1U, static_cast<std::uint32_t>(CPU_COUNT(&set)));
}

IdlePolicy automatic_idle_policy(std::uint32_t workers, std::uint32_t cores) {
    return workers <= cores ? IdlePolicy::spin : IdlePolicy::yield;
}

std::string_view to_string(IdlePolicy policy) {
    switch (policy) {
        case IdlePolicy::spin: return "spin";
        case IdlePolicy::yield: return "yield";
        case IdlePolicy::wait: return "wait";
    }
    return "unknown";
}

RealDriver::RealDriver(measure::TscClock timer, RealDriverOptions options)
    : timer_(std::move(timer)), options_(options) {}

RealDriver::~RealDriver() {
    command_all(Command::exit);
    for (const auto& thread : threads_) {
        if (thread->thread.joinable()) thread->thread.join();
    }
}

IdlePolicy RealDriver::idle_policy(std::uint32_t workers) const {
    const IdlePolicy automatic = automatic_idle_policy(workers, usable_cores());
    const IdlePolicy wanted = options_.idle.value_or(automatic);
    return wanted == IdlePolicy::spin ? automatic : wanted;  // spinning workers without cores would starve each other
}

Result<void> RealDriver::start(std::vector<Worker*> workers) {
    const auto count = static_cast<std::uint32_t>(workers.size());
    idle_ = idle_policy(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        threads_.push_back(std::make_unique<Thread>());
        Thread& thread = *threads_.back();
        try {
            thread.thread = std::thread([this, &thread, worker = workers[i], i] { serve(thread, *worker, i); });
        } catch (const std::exception& error) {
            threads_.pop_back();
            return failure(ErrorCode::device, fmt::format("cannot start the thread of worker {}: {}", i, error.what()));
        }
    }
    return {};
}

void RealDriver::serve(Thread& thread, Worker& worker, std::uint32_t index) {
    pthread_setname_np(pthread_self(), fmt::format("worker {}", index).c_str());
    if (options_.bind && idle_ == IdlePolicy::spin) bind_to_core(index);
    for (std::uint32_t order = 0; command_of(order) != Command::exit;) {
        thread.order.wait(order, std::memory_order_acquire);
        order = thread.order.load(std::memory_order_acquire);
        while (command_of(order) == Command::step) {
            const StepResult result = worker.step(timer_.now());
            if (!result.worked) idle(result.deadline);
            order = thread.order.load(std::memory_order_acquire);
        }
        thread.parked.store(true, std::memory_order_release);
    }
}

void RealDriver::idle(Instant deadline) const {
    switch (idle_) {
        case IdlePolicy::spin: pause_briefly(); break;
        case IdlePolicy::yield: sched_yield(); break;
        case IdlePolicy::wait: {
            const Nanoseconds nap =
                deadline == kNoDeadline ? kLongestNap : std::min(kLongestNap, deadline - timer_.now());
            if (nap > Nanoseconds{0}) std::this_thread::sleep_for(nap);
            break;
        }
    }
}

void RealDriver::command_all(Command command) {
    for (const auto& thread : threads_) {
        if (command == Command::step) thread->parked.store(false, std::memory_order_relaxed);
        const std::uint32_t number = (thread->order.load(std::memory_order_relaxed) >> kCommandBits) + 1;
        thread->order.store(number << kCommandBits | static_cast<std::uint32_t>(command), std::memory_order_release);
        thread->order.notify_one();
    }
}

void RealDriver::sleep_until(Instant deadline) const {
    const Nanoseconds left = deadline == kNoDeadline ? options_.monitor_interval : deadline - timer_.now();
    const Nanoseconds nap = std::min(options_.monitor_interval, left);
    if (nap > Nanoseconds{0}) std::this_thread::sleep_for(nap);
}

Result<void> RealDriver::run(const Monitor& monitor) {
    command_all(Command::step);
    while (true) {
        const MonitorResult seen = monitor(timer_.now());
        if (seen.done) break;
        sleep_until(seen.deadline);
    }
    command_all(Command::park);
    const Instant give_up = timer_.now() + options_.park_deadline;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        while (!threads_[i]->parked.load(std::memory_order_acquire)) {
            if (timer_.now() > give_up) {
                hung_ = true;
                return failure(ErrorCode::timeout,
                               fmt::format("worker {} did not come back within {:.3g} s: its device "
                                           "or driver hangs",
                                           i, static_cast<double>(options_.park_deadline.count()) / 1e9));
            }
            std::this_thread::sleep_for(std::chrono::microseconds{20});
        }
    }
    return {};
}

void RealDriver::wait(const Monitor& monitor) {
    while (true) {
        const MonitorResult seen = monitor(timer_.now());
        if (seen.done) return;
        sleep_until(seen.deadline);
    }
}

}  // namespace gradstorm::replay
