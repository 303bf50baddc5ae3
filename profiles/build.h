// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/profile.h"
#include "profiles/section.h"

namespace gradstorm::profiles {

/// Fills in the defaults that depend on other keys: transport.fabric, fault.all_ports, the dtype of calls.
void settle_defaults(Section& root);

/// The values of a checked profile (all but path, text and what the command line adds to dut).
[[nodiscard]] Profile build_profile(const Section& root);

}  // namespace gradstorm::profiles
