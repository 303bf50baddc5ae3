// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/document.h"
#include "profiles/schema.h"
#include "profiles/section.h"

#include <optional>

/// One value against one row of the schema: type, unit, range, choices.
namespace gradstorm::profiles {

/// The checked value, or nothing after appending what is wrong with it, each with its place.
[[nodiscard]] std::optional<Value> convert(const schema::Key& key, const Node& node, Diagnostics& mistakes);

/// The value in force where the key is absent.
[[nodiscard]] Value default_of(const schema::Key& key);

}  // namespace gradstorm::profiles
