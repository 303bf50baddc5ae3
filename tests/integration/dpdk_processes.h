// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/transport/dpdk/eal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gradstorm::test {

/// One end of a test, in a process of its own: DPDK starts once in a process and does not survive a fork, so the test
/// itself never starts it. The body returns an empty text, or what went wrong.
class ChildProcess {
public:
    explicit ChildProcess(const std::function<std::string()>& body) : pid_(fork()) {
        if (pid_ != 0) return;
        std::string problem;
        if (const auto started = transport::dpdk::start_eal({.memory_mb = 160}); !started) {
            problem = started.error().message;
        } else {
            problem = body();
        }
        if (!problem.empty()) std::fprintf(stderr, "child %d: %s\n", getpid(), problem.c_str());
        std::fflush(stderr);
        _exit(problem.empty() ? 0 : 1);
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Exit code; -1 when it was killed or had to be: it did not end in time.
    int wait(std::chrono::seconds limit = std::chrono::seconds(20)) {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        int status = 0;
        while (waitpid(pid_, &status, WNOHANG) == 0) {
            if (std::chrono::steady_clock::now() >= deadline) return -1;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    pid_t pid_;
};

/// A pair of pipes: how two processes of a test exchange addresses and wait for each other.
class Channel {
public:
    Channel() {
        if (pipe(forth_) != 0 || pipe(back_) != 0) std::abort();
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() {
        for (const int end : {forth_[0], forth_[1], back_[0], back_[1]}) close(end);
    }

    /// Sends `mine` to the other side and returns what it sent.
    template <class T>
    T exchange(bool first_side, const T& mine) {
        constexpr int kPatienceMs = 30'000;  // both sides hold both ends: a read would wait for a dead one for ever
        T theirs{};
        pollfd from{.fd = first_side ? back_[0] : forth_[0], .events = POLLIN, .revents = 0};
        if (write(first_side ? forth_[1] : back_[1], &mine, sizeof mine) != sizeof mine ||
            poll(&from, 1, kPatienceMs) != 1 || read(from.fd, &theirs, sizeof theirs) != sizeof theirs) {
            std::fprintf(stderr, "the other side is gone\n");
            _exit(2);
        }
        return theirs;
    }

private:
    int forth_[2]{};
    int back_[2]{};
};

}  // namespace gradstorm::test
