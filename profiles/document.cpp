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

/// Behind the string that begins at `at`; the end of the line or text where it is left open.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool block = text.substr(at).starts_with(std::string(3, quote));
    const std::string mark(block ? 3 : 1, quote);
    for (at += mark.size(); at < text.size() && (block || text[at] != '\n'); ++at) {
        if (text.substr(at).starts_with(mark)) {
            at += mark.size();
            // A block may end in up to two quotes of its text.
            for (int own = 0; block && own < 2 && at < text.size() && text[at] == quote; ++own) ++at;
            return at;
        }
        if (quote == '"' && text[at] == '\\') ++at;
    }
    return std::min(at, text.size());
}

/// Refuses a key or heading of more parts than any profile has: toml++ and this reader descend a level for each, and
/// endlessly many would exhaust the stack.
std::optional<Diagnostic> refuse_deep_keys(const Source& source, std::string_view text) {
    constexpr int kMaxDots = 16;
    Place place{source, 1, 1};
    int dots = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            const std::size_t end = end_of_string(text, at);
            place.line += static_cast<std::uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                                text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
            at = end;
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '.' && ++dots > kMaxDots) {
            return mistake_at(place, fmt::format("a key of more than {} parts", kMaxDots));
        }
        if (std::string_view{"\n=,[]{}"}.find(c) != std::string_view::npos) dots = 0;
        if (c == '\n') ++place.line;
        ++at;
    }
    return std::nullopt;
}

/// Blanks the line of a duplicate key, so that the rest of the text can still be read with each thing in its place.
/// False where the line holds more than the key, or where it was no duplicate key.
bool blank_duplicate_key(const toml::parse_error& error, std::string& text) {
    const auto at = error.source().begin;
    if (error.description().find("cannot redefine existing") == std::string_view::npos || at.line == 0) {
        return false;
    }
    std::size_t begin = 0;
    for (auto line = at.line; line > 1; --line) begin = text.find('\n', begin) + 1;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view before = std::string_view{text}.substr(begin, std::min<std::size_t>(at.column, end - begin));
    if (before.find_first_not_of(' ') == std::string_view::npos ||
        before.find_first_of("[{") != std::string_view::npos) {
        return false;
    }
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    return true;
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
        case Node::Kind::real: return fmt::format("the number {:#}", node.real);
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

std::optional<Node> parse_document(const Source& source, std::string_view text, Diagnostics& mistakes) {
    if (auto deep = refuse_deep_keys(source, text)) {
        mistakes.push_back(std::move(*deep));
        return std::nullopt;
    }
    constexpr int kMaxDuplicates = 32;
    std::string readable{text};
    for (int duplicates = 0;; ++duplicates) {
        try {
            return from_toml(toml::parse(readable, std::string_view{*source}), source);
        } catch (const toml::parse_error& error) {
            mistakes.push_back(mistake_at(place_of(source, error.source()), syntax_message(error.description())));
            if (duplicates == kMaxDuplicates || !blank_duplicate_key(error, readable)) return std::nullopt;
        }
    }
}

std::optional<Node> parse_value(const Place& place, std::string_view text) {
    Diagnostics ignored;
    auto document = parse_document(place.source, fmt::format("value = {}", text), ignored);
    if (!document || !ignored.empty() || document->members.size() != 1) {
        return std::nullopt;
    }
    Node value = std::move(document->members.front().value);
    move_to(place, value);
    return value;
}

}  // namespace gradstorm::profiles
