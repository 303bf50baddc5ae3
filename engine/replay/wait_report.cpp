// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/wait_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gradstorm::replay {

namespace {

struct Suspect {
    std::set<std::uint32_t> unacknowledged;  ///< other ends of missing acknowledgements
    bool waits = false;
    bool waited_for = false;
    Instant last_heard = Instant::min();  ///< by anybody
};

std::map<std::uint32_t, Suspect> suspects_of(std::span<const WaitFor> waits) {
    std::map<std::uint32_t, Suspect> suspects;
    for (const WaitFor& wait : waits) {
        Suspect& waiter = suspects[wait.rank];
        Suspect& peer = suspects[wait.peer];
        waiter.waits = true;
        peer.waited_for = true;
        peer.last_heard = std::max(peer.last_heard, wait.last_heard);
        if (wait.kind != WaitKind::acknowledgement) continue;
        waiter.unacknowledged.insert(wait.peer);
        peer.unacknowledged.insert(wait.rank);
    }
    return suspects;
}

/// More blame first.
bool worse(const Suspect& a, const Suspect& b) {
    if (a.unacknowledged.size() != b.unacknowledged.size()) return a.unacknowledged.size() > b.unacknowledged.size();
    const bool a_sink = a.waited_for && !a.waits;
    const bool b_sink = b.waited_for && !b.waits;
    if (a_sink != b_sink) return a_sink;
    if (a.waited_for != b.waited_for) return a.waited_for;
    return a.last_heard < b.last_heard;
}

}  // namespace

std::string_view to_string(WaitKind kind) {
    switch (kind) {
        case WaitKind::credit: return "credit";
        case WaitKind::data: return "data";
        case WaitKind::acknowledgement: return "acknowledgement";
    }
    return "unknown";
}

std::string to_string(const WaitFor& wait) {
    return fmt::format("rank {} waits for rank {}, channel {}, step {} ({}) in {}", wait.rank, wait.peer, wait.channel,
                       wait.step, to_string(wait.kind), wait.call);
}

std::optional<std::uint32_t> culprit_of(std::span<const WaitFor> waits) {
    const auto suspects = suspects_of(waits);
    if (suspects.empty()) return std::nullopt;
    return std::min_element(suspects.begin(), suspects.end(),
                            [](const auto& a, const auto& b) { return worse(a.second, b.second); })
        ->first;
}

}  // namespace gradstorm::replay
