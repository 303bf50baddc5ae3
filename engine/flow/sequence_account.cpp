// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/sequence_account.h"

#include <algorithm>

namespace gradstorm::flow {

void SequenceAccount::out_of_line(std::uint32_t psn) {
    constexpr std::uint32_t kHalf = (kMask + 1) / 2;
    const std::uint32_t ahead = (psn - next_) & kMask;
    if (ahead < kHalf) {
        ++counters_.in_order;  // the latest so far: what lies between may still come
        jump_to(psn);
        return;
    }
    const std::uint32_t behind = (next_ - 1 - psn) & kMask;  // the latest
    if (behind >= kWindow || behind >= expected_) {
        ++counters_.too_late;
    } else if (knows(psn)) {
        ++counters_.duplicates;
    } else {
        remember(psn);
        ++counters_.reordered;
        counters_.reordering_extent = std::max(counters_.reordering_extent, behind);
    }
}

void SequenceAccount::jump_to(std::uint32_t psn) {
    const std::uint32_t gap = (psn - next_) & kMask;
    for (std::uint32_t i = 0; i < std::min(gap, kWindow); ++i) forget(psn - 1 - i);
    expected_ += gap;
    next_ = psn;
    remember(psn);
    step();
}

}  // namespace gradstorm::flow
