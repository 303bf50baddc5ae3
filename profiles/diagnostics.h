// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradstorm::profiles {

/// One mistake in a profile, at its place. All mistakes of a profile are reported together.
struct Diagnostic {
    std::string path;          ///< file as the user gave it, or the option: "--set run.itertions=3"
    std::uint32_t line = 0;    ///< from 1; 0: the mistake has no line (options, unreadable files)
    std::uint32_t column = 0;  ///< from 1, in code points
    std::string message;       ///< one line, lower case, no full stop

    friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// "file:line:column: message", or "path: message" where there is no line.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// All of them, a line each, without a line end after the last.
[[nodiscard]] std::string to_string(const Diagnostics& diagnostics);

/// The candidate that a person most likely meant by `name` (fewest edits, letter case ignored), or "" where none is
/// near: at most one edit for every three letters.
[[nodiscard]] std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace gradstorm::profiles
