// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/compose.h"
#include "engine/measure/run_result.h"

#include <span>
#include <string>
#include <vector>

namespace gradstorm::app {

/// Adds what the ports know to the generator's account of itself. Frames that a port lost are the generator's doing,
/// not the network's: that is the verdict, unless there was a graver one.
void add_port_statistics(measure::SelfCheck& check, std::span<const PortAccount> ports);

/// What the injected faults did, one line a port that has any: asked is not yet done.
[[nodiscard]] std::vector<std::string> fault_accounts(std::span<const PortAccount> ports);

}  // namespace gradstorm::app
