// SPDX-License-Identifier: Apache-2.0
#include "profiles/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace gradstorm::profiles {

using schema::Key;
using schema::Type;

namespace {

constexpr std::array kLoads{Dimension::rate, Dimension::share, Dimension::packet_rate};
constexpr std::array kLimits{Dimension::share, Dimension::rate, Dimension::duration, Dimension::size};

/// Why a value is refused: the rest of the sentence that begins with the key's name.
using Refusal = tl::unexpected<std::string>;
using Checked = tl::expected<Value, std::string>;

Refusal refuse(std::string why) { return Refusal{std::move(why)}; }

std::string joined(const std::vector<std::string_view>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// "must be one of a, b; did you mean 'a'?"
std::string not_a_choice(const Key& key, const std::string& got) {
    const auto choices = schema::choices_of(key);
    const auto nearest = nearest_name(got, choices);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
    if (choices.size() == 1) {
        return fmt::format("must be {}, not {}{}", choices.front(), got, hint);
    }
    return fmt::format("must be one of {}, not '{}'{}", joined(choices), got, hint);
}

bool is_choice(const Key& key, std::string_view text) {
    const auto choices = schema::choices_of(key);
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

std::string must_be(const Key& key, std::string_view what, const Node& node) {
    const std::string range = schema::range_text(key);
    return fmt::format("must be {}{}{}, not {}", what, range.empty() ? "" : " ", range, describe(node));
}

tl::expected<std::uint64_t, std::string> checked_integer(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::integer) {
        return refuse(must_be(key, "an integer", node));
    }
    if (!key.choices.empty()) {
        const std::string text = fmt::format("{}", node.integer);
        if (!is_choice(key, text)) {
            return refuse(not_a_choice(key, text));
        }
    } else if (node.integer < 0 || static_cast<std::uint64_t>(node.integer) < key.min ||
               static_cast<std::uint64_t>(node.integer) > key.max) {
        return refuse(fmt::format("must be {}, not {}", schema::range_text(key), node.integer));
    }
    return static_cast<std::uint64_t>(node.integer);
}

Checked checked_text(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::text) {
        return refuse(fmt::format("must be text in quotes, not {}", describe(node)));
    }
    if (node.text.empty()) {
        return refuse("must not be empty");
    }
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(node.text.begin(), node.text.end(), control)) {
        return refuse("must not hold line ends or other control characters");
    }
    if (!key.choices.empty() && !is_choice(key, node.text)) {
        return refuse(not_a_choice(key, node.text));
    }
    return node.text;
}

std::string bare_number(const Node& node, std::string_view what, std::string_view units) {
    return fmt::format("is the bare number {}; write a {} with its unit in quotes: {}", plain_text(node), what, units);
}

bool is_number(const Node& node) { return node.kind == Node::Kind::integer || node.kind == Node::Kind::real; }

Checked checked_quantity(const Key& key, const Node& node) {
    const Dimension dimension = schema::dimension_of(key.type).value();
    if (is_number(node)) {
        return refuse(bare_number(node, to_string(dimension), unit_list(dimension)));
    }
    if (node.kind != Node::Kind::text) {
        return refuse(fmt::format("must be a {} in quotes, not {}", to_string(dimension), describe(node)));
    }
    const auto value = parse_quantity(node.text, dimension);
    if (!value) {
        return refuse(value.error().message);
    }
    if (*value < key.min || *value > key.max) {
        return refuse(fmt::format("must be {}, not {}", schema::range_text(key), node.text));
    }
    return *value;
}

/// A quantity of one of several dimensions, kept as text in its shortest form.
template <std::size_t n>
Checked checked_mixed(const std::array<Dimension, n>& dimensions, const Node& node) {
    std::string kinds;
    for (const Dimension dimension : dimensions) {
        kinds += (kinds.empty() ? "" : " or ") + std::string{to_string(dimension)};
    }
    if (is_number(node)) {
        return refuse(
            fmt::format("is the bare number {}; write a {} with its unit in quotes", plain_text(node), kinds));
    }
    if (node.kind != Node::Kind::text) {
        return refuse(fmt::format("must be a {} in quotes, not {}", kinds, describe(node)));
    }
    for (const Dimension dimension : dimensions) {
        const auto value = parse_quantity(node.text, dimension);
        if (value) {
            return format_quantity(*value, dimension);
        }
    }
    return refuse(fmt::format("is \"{}\", which is no {}; write a number and a unit", node.text, kinds));
}

Checked checked_source_port(const Key& key, const Node& node) {
    if (node.kind == Node::Kind::text && node.text == "random") {
        return node.text;
    }
    if (node.kind != Node::Kind::integer) {
        return refuse(must_be(key, "\"random\" or an integer", node));
    }
    return checked_integer(key, node).map([](std::uint64_t port) { return Value{fmt::format("{}", port)}; });
}

Checked checked_scalar(const Key& key, const Node& node) {
    switch (key.type) {
        case Type::boolean:
            if (node.kind != Node::Kind::boolean) {
                return refuse(fmt::format("must be true or false, not {}", describe(node)));
            }
            return node.boolean;
        case Type::integer: return checked_integer(key, node).map([](std::uint64_t n) { return Value{n}; });
        case Type::load: return checked_mixed(kLoads, node);
        case Type::limit: return checked_mixed(kLimits, node);
        case Type::source_port: return checked_source_port(key, node);
        case Type::text:
        case Type::choice: return checked_text(key, node);
        default: return checked_quantity(key, node);
    }
}

void report(const Key& key, const Node& node, const std::string& why, Diagnostics& mistakes) {
    mistakes.push_back(mistake_at(node.place, fmt::format("'{}' {}", key.name, why)));
}

/// A list: every wrong item is reported.
std::optional<Value> convert_list(const Key& key, const Node& node, Diagnostics& mistakes) {
    const std::string_view what = key.type == Type::texts ? "text" : "integers";
    if (node.kind != Node::Kind::array) {
        report(key, node, fmt::format("must be a list of {}, not {}", what, describe(node)), mistakes);
        return std::nullopt;
    }
    Texts texts;
    Integers integers;
    bool sound = true;
    for (const Node& item : node.items) {
        const Checked value = key.type == Type::texts
                                  ? checked_text(key, item)
                                  : checked_integer(key, item).map([](std::uint64_t n) { return Value{n}; });
        if (!value) {
            report(key, item, value.error(), mistakes);
            sound = false;
        } else if (const auto* text = std::get_if<std::string>(&*value)) {
            texts.push_back(*text);
        } else {
            integers.push_back(std::get<std::uint64_t>(*value));
        }
    }
    if (!sound) {
        return std::nullopt;
    }
    if (key.type == Type::texts) {
        return Value{std::move(texts)};
    }
    return Value{std::move(integers)};
}

}  // namespace

std::optional<Value> convert(const Key& key, const Node& node, Diagnostics& mistakes) {
    if (key.type == Type::texts || key.type == Type::integers) {
        return convert_list(key, node, mistakes);
    }
    Checked value = checked_scalar(key, node);
    if (!value) {
        report(key, node, value.error(), mistakes);
        return std::nullopt;
    }
    return std::move(*value);
}

Value default_of(const Key& key) {
    if (key.fallback.empty()) {
        return {};
    }
    Node node;
    node.kind = Node::Kind::text;
    node.text = key.fallback;
    if (key.type == Type::boolean) {
        node.kind = Node::Kind::boolean;
        node.boolean = key.fallback == "true";
    } else if (key.type == Type::integer) {
        node.kind = Node::Kind::integer;
        std::from_chars(key.fallback.data(), key.fallback.data() + key.fallback.size(), node.integer);
    }
    Checked value = checked_scalar(key, node);
    if (!value) {
        throw std::logic_error(fmt::format("the schema's default of '{}' {}", key.name, value.error()));
    }
    return std::move(*value);
}

std::string to_text(const Setting& setting) {
    struct Printer {
        Type type;
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(bool value) const { return value ? "true" : "false"; }
        std::string operator()(std::uint64_t value) const {
            const auto dimension = schema::dimension_of(type);
            return dimension ? format_quantity(value, *dimension) : fmt::format("{}", value);
        }
        std::string operator()(const std::string& value) const { return value; }
        std::string operator()(const Texts& value) const { return fmt::format("{}", fmt::join(value, ", ")); }
        std::string operator()(const Integers& value) const { return fmt::format("{}", fmt::join(value, ", ")); }
    };
    return std::visit(Printer{setting.key->type}, setting.value);
}

}  // namespace gradstorm::profiles
