// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <cstdint>
#include <string>

namespace gradstorm::collective {

struct SymbolicSettings {
    std::uint32_t slots = 1;       ///< outstanding grants of a connection
    std::uint32_t send_depth = 1;  ///< sends in flight of a rank and channel
    std::uint64_t seed = 1;        ///< of the interleaving
};

/// Runs all ranks of a schedule over symbolic buffers, one random enabled action at a time, as hostile as the contract
/// between schedule and executor allows: a granted landing place holds garbage from the grant on, a send reads its
/// source until it completes (long after its data landed), a local op writes at any time between its start and its end.
///
/// Every element of a buffer is a set of contributions ("element 7 of ranks 0, 1 and 4") and a number. Returns the
/// first fault, as text for people, or an empty string when every rank ended with the right data in its result, no
/// source changed, and the ops were as many as Schedule::totals() says. Faults: a read of what is not there yet; a
/// write to what is being read; two writers at once; a contribution added twice; ends of a message that disagree; no
/// action left.
[[nodiscard]] std::string run_symbolically(const Schedule& schedule, const SymbolicSettings& settings);

}  // namespace gradstorm::collective
