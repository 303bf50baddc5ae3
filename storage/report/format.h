// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Private to storage/report: numbers and columns as text.
namespace gradstorm::report {

inline constexpr const char* kNotMeasured = "N/A";

/// "64 MiB", "512 KiB", "8 B"; what is not 1 to 1023 of a unit in bytes: "8,196,000 B".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "1,234,567"
[[nodiscard]] std::string count_text(std::uint64_t count);
/// Four significant digits in the unit that fits: "830 ns", "12.34 us", "1.000 ms", "2.500 s".
[[nodiscard]] std::string time_text(double nanoseconds);
/// With that many decimals, N/A without a value.
[[nodiscard]] std::string number_text(std::optional<double> value, int decimals);
/// As the field's benchmark fits numbers into its columns: two decimals, else one, else none, else an exponent.
[[nodiscard]] std::string fitted_text(double value, std::size_t width);

[[nodiscard]] inline std::string or_not_measured(const std::string& text) { return text.empty() ? kNotMeasured : text; }

/// Columns that are as wide as their widest cell, two blanks apart; the first `left` left-aligned, the others
/// right-aligned.
class TextTable {
public:
    TextTable(std::size_t left, std::vector<std::string> header) : left_(left), rows_{std::move(header)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    [[nodiscard]] std::string text() const;

private:
    std::size_t left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace gradstorm::report
