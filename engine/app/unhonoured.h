// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/profile.h"

#include <string>
#include <vector>

namespace gradstorm::app {

/// One line for each setting of the profile that is valid, differs from its default, and changes nothing in this
/// version, or in virtual time: a wrong setting must not hide. For a run's warnings.
[[nodiscard]] std::vector<std::string> unhonoured_settings(const profiles::Profile& profile, bool virtual_time);

}  // namespace gradstorm::app
