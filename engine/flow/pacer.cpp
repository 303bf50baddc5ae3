// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/pacer.h"

#include <cmath>

namespace gradstorm::flow {
namespace {

Picoseconds times(Picoseconds gap, std::uint64_t count) {
    Picoseconds product;
    for (; count > 0; count >>= 1U, gap = gap + gap) {
        if (count % 2 == 1) product = product + gap;
    }
    return product;
}

}  // namespace

Picoseconds gap_at(double units_per_second, std::uint64_t units) {
    const long double gap = static_cast<long double>(units) * 1e12L / static_cast<long double>(units_per_second);
    const long double whole = std::floor(gap);
    return {static_cast<std::uint64_t>(whole), static_cast<std::uint64_t>(std::ldexp(gap - whole, 64))};
}

/// Brings the schedule back to where the tolerance begins, so that what may be caught up still is.
void Pacer::be_late(std::uint64_t now_ps, Picoseconds gap) {
    ++counters_.late;
    const std::uint64_t lost = now_ps - settings_.tolerance_ps - burst_at_;
    if (settings_.late == LatePolicy::stretch) {
        counters_.stretched_ps += lost;
        next_.whole += lost;
        burst_at_ += lost;
        return;
    }
    // Whole slots, to stay on the grid of the schedule; whole bursts, where frames leave in bursts.
    const std::uint64_t slots_of_burst = settings_.burst;
    const std::uint64_t burst_ps = gap.whole * slots_of_burst;
    const std::uint64_t bursts = burst_ps == 0 ? 0 : lost / burst_ps;
    const std::uint64_t slots = bursts * slots_of_burst;
    counters_.skipped += slots;
    next_ = next_ + times(gap, slots);
    burst_at_ = in_burst_ == 0 ? next_.whole : burst_at_ + times(gap, slots).whole;
}

}  // namespace gradstorm::flow
