// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/watchdog.h"

#include <algorithm>

namespace gradstorm::replay {
namespace {

/// A process that is about to say that it stalls says so before the others call it silent.
constexpr Nanoseconds kGrace = std::chrono::seconds{1};

}  // namespace

MonitorResult Watchdog::look(Instant now) {
    const auto failed = [](const auto& worker) { return worker->failed(); };
    if (std::any_of(workers_->begin(), workers_->end(), failed)) return end(Ending::failed);
    if (wants_abort(now)) return end(Ending::aborted);
    if (peers_done()) return end(Ending::finished);
    if (error_) return end(Ending::peer_lost);

    const auto finished = [](const auto& worker) { return worker->finished(); };
    if (!finished_at_ && std::all_of(workers_->begin(), workers_->end(), finished)) {
        finished_at_ = now;
        if (auto begun = rendezvous_->begin(settings_.phase, {}); !begun) error_ = begun.error();
        return {.done = false, .deadline = now};
    }
    note_progress(now);
    if (finished_at_) active_at_ = now - rendezvous_->silence();
    const Instant limit = active_at_ + settings_.stall_timeout + (finished_at_ ? kGrace : Nanoseconds{0});
    if (now >= limit) return end(Ending::stalled);
    Instant next = limit;
    if (stop_since_) next = std::min(next, *stop_since_ + settings_.stop_timeout);
    return {.done = false, .deadline = next};
}

/// Also finds out about lost peers.
bool Watchdog::peers_done() {
    auto polled = rendezvous_->poll();
    if (!polled) {
        error_ = polled.error();
        return false;
    }
    return finished_at_ && polled->has_value();
}

void Watchdog::note_progress(Instant now) {
    std::uint64_t progress = 0;
    Instant gap_until{};
    for (const auto& worker : *workers_) {
        progress += worker->progress();
        gap_until = std::max(gap_until, worker->gap_until());
    }
    if (progress != progress_) {
        progress_ = progress;
        active_at_ = now;
    }
    active_at_ = std::max(active_at_, std::min(now, gap_until));
    if (gap_until > now) active_at_ = gap_until;  // nothing is late before the gap has ended
}

bool Watchdog::wants_abort(Instant now) {
    const int signals = settings_.stop == nullptr ? 0 : settings_.stop->load(std::memory_order_relaxed);
    if (signals == 0) return false;
    if (!stop_since_) stop_since_ = now;
    return signals > 1 || now - *stop_since_ >= settings_.stop_timeout;
}

}  // namespace gradstorm::replay
