// SPDX-License-Identifier: Apache-2.0
#include "engine/app/stop_request.h"

#include <csignal>

namespace gradstorm::app {

namespace {

std::atomic<int> g_stop_count{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch it");

struct sigaction g_former_int;
struct sigaction g_former_term;
struct sigaction g_former_pipe;

void on_stop_signal(int /*signal*/) { g_stop_count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

StopSignals::StopSignals() {
    g_stop_count.store(0, std::memory_order_relaxed);
    struct sigaction action{};
    action.sa_handler = on_stop_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &g_former_int);
    sigaction(SIGTERM, &action, &g_former_term);
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &g_former_pipe);
}

StopSignals::~StopSignals() {
    sigaction(SIGINT, &g_former_int, nullptr);
    sigaction(SIGTERM, &g_former_term, nullptr);
    sigaction(SIGPIPE, &g_former_pipe, nullptr);
}

std::atomic<int>& StopSignals::count() { return g_stop_count; }

}  // namespace gradstorm::app
