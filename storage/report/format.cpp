// SPDX-License-Identifier: Apache-2.0
#include "storage/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradstorm::report {

std::string count_text(std::uint64_t count) {
    const std::string digits = fmt::format("{}", count);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kKibi = 1024;
    std::uint64_t unit = kKibi;
    for (const char* name : {" KiB", " MiB", " GiB"}) {
        if (bytes % unit == 0 && bytes != 0 && bytes / unit < kKibi) return count_text(bytes / unit) + name;
        unit *= kKibi;
    }
    return count_text(bytes) + " B";
}

std::string time_text(double nanoseconds) {
    constexpr double kThousand = 1000;
    const double magnitude = std::abs(nanoseconds);
    if (magnitude < kThousand) return fmt::format("{:.0f} ns", nanoseconds);
    double value = nanoseconds / kThousand;
    const char* unit = "us";
    for (const char* larger : {"ms", "s"}) {
        if (std::abs(value) < kThousand) break;
        value /= kThousand;
        unit = larger;
    }
    const int decimals = std::abs(value) < 10 ? 3 : std::abs(value) < 100 ? 2 : 1;
    return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string number_text(std::optional<double> value, int decimals) {
    if (!value || !std::isfinite(*value)) return kNotMeasured;
    return fmt::format("{:.{}f}", *value, decimals);
}

std::string fitted_text(double value, std::size_t width) {
    for (int decimals = 2; decimals >= 0; --decimals)
        if (std::string text = fmt::format("{:.{}f}", value, decimals); text.size() <= width) return text;
    for (int decimals = 2; decimals > 0; --decimals)
        if (std::string text = fmt::format("{:.{}e}", value, decimals); text.size() <= width) return text;
    return fmt::format("{:.0e}", value);
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += (i == 0 ? "" : "  ") +
                    (i < left_ ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]));
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

}  // namespace gradstorm::report
