// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/driver.h"

#include <cstdint>

namespace gradstorm::replay {

/// One thread, no clock: steps every worker in turn until none has work at this moment, then jumps to the earliest
/// deadline. The same inputs give the same run on any machine.
class VirtualDriver final : public Driver {
public:
    [[nodiscard]] Instant now() const override { return now_; }
    [[nodiscard]] Result<void> start(std::vector<Worker*> workers) override;
    /// Fails (timeout) when work never ends at one moment, or when nobody has a deadline any more.
    [[nodiscard]] Result<void> run(const Monitor& monitor) override;
    void wait(const Monitor& monitor) override;

    [[nodiscard]] std::string clock_description() const override { return "virtual"; }
    [[nodiscard]] double clock_residual_ppm() const override { return 0; }

    /// Steps of all workers, since the start.
    [[nodiscard]] std::uint64_t steps() const { return steps_; }

private:
    static constexpr std::uint64_t kMostRoundsAtOneMoment = 10'000'000;

    StepResult step_all();

    std::vector<Worker*> workers_;
    Instant now_{};
    std::uint64_t steps_ = 0;
};

}  // namespace gradstorm::replay
