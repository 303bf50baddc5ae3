// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/driver.h"

#include <cstdint>

namespace gradstorm::replay {

/// One thread, no clock: steps every worker in turn until none has work at this moment, then jumps to the earliest
/// deadline. The same inputs give the same run on any machine.
class VirtualDriver final : public Driver {
public:
    /// `most_rounds`: of all workers at one moment, before that counts as standing still.
    explicit VirtualDriver(std::uint64_t most_rounds = 10'000'000) : most_rounds_(most_rounds) {}

    [[nodiscard]] Instant now() const override { return now_; }
    [[nodiscard]] Result<void> start(std::vector<Worker*> workers) override;
    /// Fails (timeout) when work never ends at one moment, or when nobody has a deadline any more.
    [[nodiscard]] Result<void> run(const Monitor& monitor) override;
    void wait(const Monitor& monitor) override;

    [[nodiscard]] std::string clock_description() const override { return "virtual"; }
    [[nodiscard]] double clock_residual_ppm() const override { return 0; }

private:
    StepResult step_all();

    std::uint64_t most_rounds_;
    std::vector<Worker*> workers_;
    Instant now_{};
};

}  // namespace gradstorm::replay
