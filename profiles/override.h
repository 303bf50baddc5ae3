// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/document.h"

#include <string>

/// What the command line changes in a profile, done on its tree, so that all checks see one text.
namespace gradstorm::profiles {

/// --set KEY=VALUE (ParseOptions::overrides). A key that the schema does not have is reported and nothing is changed.
void apply_override(Node& document, const std::string& assignment, Diagnostics& mistakes);

/// --testbed: `testbed` takes the place of [[port]] and [bind].
void apply_testbed(Node& document, Node testbed, Diagnostics& mistakes);

}  // namespace gradstorm::profiles
