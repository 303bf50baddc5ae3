// SPDX-License-Identifier: Apache-2.0
#include "profiles/document.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace gradstorm::profiles {
namespace {

using Source = std::shared_ptr<const std::string>;

Place place_of(const Source& source, const toml::source_region& region) {
    return {source, static_cast<std::uint32_t>(region.begin.line), static_cast<std::uint32_t>(region.begin.column)};
}

bool written_before(const Member& a, const Member& b) {
    return a.place.line != b.place.line ? a.place.line < b.place.line : a.place.column < b.place.column;
}

template <class T>
std::string printed(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

Node from_toml(const toml::node& from, const Source& source) {
    Node node;
    node.place = place_of(source, from.source());
    if (const auto* table = from.as_table()) {
        for (const auto& [key, value] : *table) {
            node.members.push_back({std::string{key.str()}, place_of(source, key.source()), from_toml(value, source)});
        }
        // toml++ keeps tables sorted by key.
        std::stable_sort(node.members.begin(), node.members.end(), written_before);
    } else if (const auto* array = from.as_array()) {
        node.kind = Node::Kind::array;
        for (const toml::node& item : *array) {
            node.items.push_back(from_toml(item, source));
        }
    } else if (const auto* text = from.as_string()) {
        node.kind = Node::Kind::text;
        node.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
        node.kind = Node::Kind::integer;
        node.integer = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
        node.kind = Node::Kind::real;
        node.real = real->get();
    } else if (const auto* boolean = from.as_boolean()) {
        node.kind = Node::Kind::boolean;
        node.boolean = boolean->get();
    } else {
        node.kind = Node::Kind::date;
        if (const auto* date = from.as_date()) {
            node.text = printed(date->get());
        }
        if (const auto* time = from.as_time()) {
            node.text = printed(time->get());
        }
        if (const auto* date_time = from.as_date_time()) {
            node.text = printed(date_time->get());
        }
    }
    return node;
}

/// The text between the first pair of single quotes.
std::string_view quoted_part(std::string_view text) {
    const std::size_t first = text.find('\'');
    const std::size_t last = text.find('\'', std::min(first, text.size() - 1) + 1);
    if (first == std::string_view::npos || last == std::string_view::npos) {
        return {};
    }
    return text.substr(first + 1, last - first - 1);
}

/// toml++'s description in the form of our messages.
std::string syntax_message(std::string_view description) {
    constexpr std::string_view kPrefix = "Error while parsing ";
    constexpr std::string_view kRedefine = "cannot redefine existing ";
    if (const std::size_t at = description.find(kRedefine); at != std::string_view::npos) {
        const std::string_view name = quoted_part(description);
        const bool tables = description.find("table", at) != std::string_view::npos ||
                            description.find("array", at) != std::string_view::npos;
        return tables ? fmt::format("'{}' is given twice, or once as [{}] and once as [[{}]]", name, name, name)
                      : fmt::format("duplicate key '{}'", name);
    }
    std::string message;
    if (description.substr(0, kPrefix.size()) == kPrefix) {
        description.remove_prefix(kPrefix.size());
    }
    for (const char c : description) {
        // The character that was seen may be a line end or another control character.
        message += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    if (!message.empty()) {
        message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    }
    const bool number =
        message.starts_with("decimal integer: expected digit") || message.starts_with("floating-point: expected");
    if (number) {
        message += "; text, and numbers with a unit, stand in quotes: \"64KiB\"";
    }
    return message;
}

void move_to(const Place& place, Node& node) {
    node.place = place;
    for (Member& member : node.members) {
        member.place = place;
        move_to(place, member.value);
    }
    for (Node& item : node.items) {
        move_to(place, item);
    }
}

}  // namespace

Diagnostic mistake_at(const Place& place, std::string message) {
    return {place.source ? *place.source : std::string{}, place.line, place.column, std::move(message)};
}

Node* Node::find(std::string_view key) {
    const auto same = [key](const Member& member) { return member.key == key; };
    const auto member = std::find_if(members.begin(), members.end(), same);
    return member == members.end() ? nullptr : &member->value;
}

void Node::set(std::string_view key, Node value) {
    if (Node* old = find(key)) {
        *old = std::move(value);
        return;
    }
    const Place at = value.place;
    members.push_back({std::string{key}, at, std::move(value)});
}

void Node::erase(std::string_view key) {
    std::erase_if(members, [key](const Member& member) { return member.key == key; });
}

std::string describe(const Node& node) {
    switch (node.kind) {
        case Node::Kind::table: return "a table";
        case Node::Kind::array: return "a list";
        case Node::Kind::text: return fmt::format("the text \"{}\"", node.text);
        case Node::Kind::integer: return fmt::format("the number {}", node.integer);
        case Node::Kind::real: return fmt::format("the number {}", node.real);
        case Node::Kind::boolean: return node.boolean ? "true" : "false";
        case Node::Kind::date: return fmt::format("the date {}", node.text);
    }
    return {};
}

std::string plain_text(const Node& node) {
    switch (node.kind) {
        case Node::Kind::table: return {};
        case Node::Kind::text:
        case Node::Kind::date: return node.text;
        case Node::Kind::integer: return fmt::format("{}", node.integer);
        case Node::Kind::real: return fmt::format("{}", node.real);
        case Node::Kind::boolean: return node.boolean ? "true" : "false";
        case Node::Kind::array: break;
    }
    std::string list;
    for (const Node& item : node.items) {
        list += (list.empty() ? "" : ", ") + plain_text(item);
    }
    return list;
}

tl::expected<Node, Diagnostic> parse_document(const Source& source, std::string_view text) {
    try {
        return from_toml(toml::parse(text, std::string_view{*source}), source);
    } catch (const toml::parse_error& error) {
        return tl::unexpected(mistake_at(place_of(source, error.source()), syntax_message(error.description())));
    }
}

std::optional<Node> parse_value(const Place& place, std::string_view text) {
    auto document = parse_document(place.source, fmt::format("value = {}", text));
    if (!document || document->members.size() != 1) {
        return std::nullopt;
    }
    Node value = std::move(document->members.front().value);
    move_to(place, value);
    return value;
}

}  // namespace gradstorm::profiles
