// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace gradstorm::perf {

/// Two threads, one core each if there are two, that step until they are stopped; what they count is read at the ends
/// of a window, by themselves.
class CorePair {
public:
    struct Side {
        std::function<void()> start = [] {};  ///< first, in its thread
        std::function<void()> step;           ///< over and over
        std::function<std::uint64_t()> count = [] { return std::uint64_t{0}; };
        std::function<void()> finish = [] {};  ///< last, in its thread, after both have stopped stepping
    };

    /// How much the second side's count grew per second, in millions, in a window after a warm-up.
    static double millions_per_second(const Side& first, const Side& second, std::chrono::milliseconds window,
                                      std::chrono::milliseconds warm_up = std::chrono::milliseconds(30)) {
        std::atomic<int> phase{0};  // 0: warm up, 1: window, 2: over
        std::atomic<int> stopped{0};
        std::array<double, 2> rates{};
        const auto body = [&](std::size_t index, const Side& side) {
            pin(index);
            side.start();
            while (phase.load(std::memory_order_relaxed) == 0) steps(side);
            const auto begin = std::chrono::steady_clock::now();
            const std::uint64_t before = side.count();
            while (phase.load(std::memory_order_relaxed) == 1) steps(side);
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
            rates[index] = static_cast<double>(side.count() - before) / time.count() / 1e6;
            ++stopped;
            while (stopped.load() < 2) std::this_thread::yield();
            side.finish();
        };
        std::thread a(body, std::size_t{0}, std::cref(first));
        std::thread b(body, std::size_t{1}, std::cref(second));
        std::this_thread::sleep_for(warm_up);
        phase = 1;
        std::this_thread::sleep_for(window);
        phase = 2;
        a.join();
        b.join();
        return rates[1];
    }

private:
    static void steps(const Side& side) {
        for (int i = 0; i < 16; ++i) side.step();
    }

    /// To the index-th core that this process may use.
    static void pin(std::size_t index) {
        cpu_set_t usable;
        if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
        const auto cores = static_cast<std::size_t>(CPU_COUNT(&usable));
        std::size_t skip = index % cores;
        for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (!CPU_ISSET(cpu, &usable) || skip-- != 0) continue;
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(pthread_self(), sizeof one, &one);
            return;
        }
    }
};

}  // namespace gradstorm::perf
