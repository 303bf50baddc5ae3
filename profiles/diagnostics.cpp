// SPDX-License-Identifier: Apache-2.0
#include "profiles/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace gradstorm::profiles {
namespace {

bool same_letter(char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Edits (insert, delete, replace, swap of neighbours) from a to b: the optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            const bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (swapped) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

constexpr std::size_t kLongestName = 64;  ///< nobody's typing error is longer; bounds the work on hostile input

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
    if (diagnostic.line == 0) {
        return fmt::format("{}: {}", diagnostic.path, diagnostic.message);
    }
    return fmt::format("{}:{}:{}: {}", diagnostic.path, diagnostic.line, diagnostic.column, diagnostic.message);
}

std::string to_string(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!text.empty()) {
            text += '\n';
        }
        text += to_string(diagnostic);
    }
    return text;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    if (name.size() > kLongestName) {
        return {};
    }
    std::string_view nearest;
    std::size_t fewest = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t edits = edit_distance(name, candidate);
        if (edits < fewest && edits < candidate.size()) {
            fewest = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

}  // namespace gradstorm::profiles
