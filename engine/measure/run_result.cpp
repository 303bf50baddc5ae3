// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/run_result.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gradstorm::measure {
namespace {

struct OutcomeRow {
    std::string_view name;
    int exit_code;
};

/// Indexed by Outcome. A run still `running` when somebody asks has not been measured: it can never pass.
constexpr std::array kOutcomes{
    OutcomeRow{"running", 2},     OutcomeRow{"pass", 0},         OutcomeRow{"fail", 1},  OutcomeRow{"invalid", 2},
    OutcomeRow{"interrupted", 2}, OutcomeRow{"not_measured", 2}, OutcomeRow{"error", 3},
};

}  // namespace

std::string_view to_string(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)].name; }

std::optional<Outcome> parse_outcome(std::string_view text) {
    const auto* found =
        std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](const OutcomeRow& row) { return row.name == text; });
    if (found == kOutcomes.end()) return std::nullopt;
    return static_cast<Outcome>(found - kOutcomes.begin());
}

int exit_code(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)].exit_code; }

}  // namespace gradstorm::measure
