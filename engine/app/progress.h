// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <string>

namespace gradstorm::app {

/// Progress of a run on standard error: a bar that redraws itself on a terminal, a plain line every few seconds
/// elsewhere. Never on standard output.
class ProgressDisplay {
public:
    explicit ProgressDisplay(bool enabled);
    ~ProgressDisplay();
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;

    /// `share` of the run (0..1) is over; `what` is under way. Cheap when nothing is due to be drawn.
    void update(double share, const std::string& what);
    /// Takes the bar off the terminal, so that other text can be written.
    void clear();

private:
    [[nodiscard]] std::string bar(double share, const std::string& what) const;

    bool enabled_;
    bool terminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point next_draw_;
};

}  // namespace gradstorm::app
