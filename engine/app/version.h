// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gradstorm::app {

/// The product's version, as in CMakeLists.txt.
[[nodiscard]] std::string version_number();

/// Name and version of the libraries that this binary runs with, as they say themselves.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> library_versions();

/// What --version prints: the product's version and what it was built with.
[[nodiscard]] std::string version_text();

}  // namespace gradstorm::app
