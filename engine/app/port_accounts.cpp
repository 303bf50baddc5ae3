// SPDX-License-Identifier: Apache-2.0
#include "engine/app/port_accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradstorm::app {
namespace {

std::string line_of(const std::string& what, const fabric::ImpairmentCounters& done) {
    std::string line = fmt::format("{}: {} frames sent through injected faults", what, done.frames);
    const std::pair<const char*, std::uint64_t> counts[] = {
        {"dropped", done.dropped},     {"duplicated", done.duplicated}, {"reordered", done.reordered},
        {"corrupted", done.corrupted}, {"marked", done.marked},         {"delayed", done.held}};
    const char* before = ": ";
    for (const auto& [name, count] : counts) {
        if (count == 0) continue;
        line += fmt::format("{}{} {} ({:.3g} %)", before, count, name,
                            100 * static_cast<double>(count) / static_cast<double>(done.frames));
        before = ", ";
    }
    return line;
}

}  // namespace

void add_port_statistics(measure::SelfCheck& check, std::span<const PortAccount> ports) {
    for (const PortAccount& port : ports) {
        if (!port.statistics) continue;
        const transport::PortStatistics seen = port.statistics();
        check.send_refusals += seen.send_refusals;
        check.lost_frames += seen.lost_frames;
        check.ring_high_water = std::max(check.ring_high_water, seen.ring_high_water);
        if (seen.lost_frames > 0 && check.verdict == "ok") {
            check.verdict = fmt::format(
                "the port of {} lost {} frames that had arrived: it needs a core of its own, or "
                "fewer ranks",
                port.what, seen.lost_frames);
        }
    }
}

std::vector<std::string> fault_accounts(std::span<const PortAccount> ports) {
    std::vector<std::string> lines;
    for (const PortAccount& port : ports) {
        if (port.faults) lines.push_back(line_of(port.what, port.faults()));
    }
    return lines;
}

}  // namespace gradstorm::app
