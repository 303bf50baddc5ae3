// SPDX-License-Identifier: Apache-2.0
#include "profiles/quantity.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

namespace gradstorm::profiles {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
    std::string_view name;
    std::uint64_t scale;  ///< base units in one
};

constexpr std::uint64_t kThousand = 1000;
constexpr std::uint64_t kMillion = kThousand * kThousand;
constexpr std::uint64_t kBillion = kMillion * kThousand;
constexpr std::uint64_t kTrillion = kBillion * kThousand;

constexpr std::array kSizes{Unit{"B", 1},
                            Unit{"KiB", 1ULL << 10U},
                            Unit{"MiB", 1ULL << 20U},
                            Unit{"GiB", 1ULL << 30U},
                            Unit{"TiB", 1ULL << 40U},
                            Unit{"PiB", 1ULL << 50U}};
constexpr std::array kDurations{Unit{"ns", 1},       Unit{"us", kThousand},      Unit{"ms", kMillion},
                                Unit{"s", kBillion}, Unit{"min", 60 * kBillion}, Unit{"h", 3600 * kBillion}};
constexpr std::array kRates{Unit{"b/s", 1},
                            Unit{"kb/s", kThousand},
                            Unit{"Mb/s", kMillion},
                            Unit{"Gb/s", kBillion},
                            Unit{"Tb/s", kTrillion},
                            Unit{"B/s", 8},
                            Unit{"kB/s", 8 * kThousand},
                            Unit{"MB/s", 8 * kMillion},
                            Unit{"GB/s", 8 * kBillion},
                            Unit{"TB/s", 8 * kTrillion}};
constexpr std::array kShares{Unit{"%", kPartsPerBillion / 100}, Unit{"ppm", kThousand}, Unit{"ppb", 1}};
constexpr std::array kComputeRates{Unit{"FLOP/s", 1}, Unit{"GFLOP/s", kBillion}, Unit{"TFLOP/s", kTrillion},
                                   Unit{"PFLOP/s", kThousand* kTrillion}};
constexpr std::array kPacketRates{Unit{"pps", 1}, Unit{"kpps", kThousand}, Unit{"Mpps", kMillion}};

struct DimensionText {
    std::string_view name;
    std::span<const Unit> units;
    std::string_view base;  ///< plural, for "no whole number of ..."
    std::size_t preferred;  ///< format_quantity() uses only the first so many units
    std::string_view example;
};

const DimensionText& text_of(Dimension dimension) {
    static constexpr std::array kTexts{
        DimensionText{"size", kSizes, "bytes", 6, "64KiB"},
        DimensionText{"duration", kDurations, "nanoseconds", 6, "50us"},
        DimensionText{"rate", kRates, "bits a second", 5, "400Gb/s"},
        DimensionText{"share", kShares, "parts per billion", 3, "1%"},
        DimensionText{"compute rate", kComputeRates, "operations a second", 4, "989TFLOP/s"},
        DimensionText{"packet rate", kPacketRates, "packets a second", 3, "10Mpps"},
    };
    return kTexts[static_cast<std::size_t>(dimension)];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> refusal(std::string message) { return failure(ErrorCode::invalid_input, std::move(message)); }

/// A decimal number without exponent: digits / 10^decimals.
struct Decimal {
    std::uint64_t digits = 0;
    std::uint64_t divisor = 1;  ///< 10^decimals
    std::size_t length = 0;     ///< characters of the text it took
    bool too_long = false;      ///< its digits do not fit
};

Decimal scan_decimal(std::string_view text) {
    Decimal number;
    bool fraction = false;
    for (; number.length < text.size(); ++number.length) {
        const char c = text[number.length];
        if (c == '.' && !fraction && number.length > 0) {
            fraction = true;
            continue;
        }
        if (!is_digit(c)) {
            break;
        }
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (number.digits > (kLargestQuantity - digit) / 10 || number.divisor > kLargestQuantity / 100) {
            number.too_long = true;
            continue;
        }
        number.digits = number.digits * 10 + digit;
        if (fraction) {
            number.divisor *= 10;
        }
    }
    return number;
}

std::optional<std::uint64_t> scale_of(std::string_view unit, std::span<const Unit> units) {
    for (const Unit& known : units) {
        if (known.name == unit) {
            return known.scale;
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_string(Dimension dimension) { return text_of(dimension).name; }

std::string unit_list(Dimension dimension) {
    const auto units = text_of(dimension).units;
    std::string list;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (i > 0) {
            list += i + 1 == units.size() ? " or " : ", ";
        }
        list += units[i].name;
    }
    return list;
}

Result<std::uint64_t> parse_quantity(std::string_view text, Dimension dimension) {
    const DimensionText& known = text_of(dimension);
    if (text.empty()) {
        return refusal(fmt::format("is empty; write a {} such as \"{}\"", known.name, known.example));
    }
    if (text.front() == '-') {
        return refusal(fmt::format("must not be negative, but is \"{}\"", text));
    }
    const Decimal number = scan_decimal(text);
    if (number.length == 0 || text[number.length - 1] == '.') {
        return refusal(fmt::format("is \"{}\", which is no {}; write a number and {}, such as \"{}\"", text, known.name,
                                   unit_list(dimension), known.example));
    }
    std::string_view unit = text.substr(number.length);
    if (!unit.empty() && unit.front() == ' ') {
        unit.remove_prefix(1);
    }
    if (unit.empty()) {
        return refusal(fmt::format("is \"{}\" without a unit; add {}", text, unit_list(dimension)));
    }
    const auto scale = scale_of(unit, known.units);
    if (!scale) {
        return refusal(fmt::format("is \"{}\", but '{}' is no unit of a {}; use {}", text, unit, known.name,
                                   unit_list(dimension)));
    }
    const Wide scaled = Wide{number.digits} * *scale;
    if (number.too_long || scaled / number.divisor > kLargestQuantity) {
        return refusal(fmt::format("is \"{}\", which is too large or has too many digits", text));
    }
    if (scaled % number.divisor != 0) {
        return refusal(fmt::format("is \"{}\", which is no whole number of {}", text, known.base));
    }
    return static_cast<std::uint64_t>(scaled / number.divisor);
}

std::string format_quantity(std::uint64_t value, Dimension dimension) {
    const DimensionText& known = text_of(dimension);
    const Unit* best = nullptr;
    for (const Unit& unit : known.units.first(known.preferred)) {
        const bool fits = value % unit.scale == 0 && (value != 0 || unit.scale == 1 || dimension == Dimension::share);
        if (fits && (best == nullptr || unit.scale > best->scale)) {
            best = &unit;
        }
    }
    return fmt::format("{}{}", value / best->scale, best->name);
}

}  // namespace gradstorm::profiles
