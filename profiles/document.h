// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/diagnostics.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A TOML text as a plain tree in the order of the text, each value with its place. It is the one form in which files
/// and command line values meet.
namespace gradstorm::profiles {

/// Where a key or value was written. Copies share the name of the source.
struct Place {
    std::shared_ptr<const std::string> source;  ///< file, or option as the user typed it
    std::uint32_t line = 0;                     ///< 0: an option
    std::uint32_t column = 0;
};

[[nodiscard]] Diagnostic mistake_at(const Place& place, std::string message);

struct Member;

struct Node {
    enum class Kind { table, array, text, integer, real, boolean, date };
    Kind kind = Kind::table;
    Place place;
    std::string text;  ///< of text; of date as written in TOML
    std::int64_t integer = 0;
    double real = 0;
    bool boolean = false;
    std::vector<Member> members;  ///< of table
    std::vector<Node> items;      ///< of array

    [[nodiscard]] Node* find(std::string_view key);
    void set(std::string_view key, Node value);  ///< replaces or appends; the key's place is that of the value
    void erase(std::string_view key);
};

struct Member {
    std::string key;
    Place place;
    Node value;
};

/// What a value is, with an article, for messages: "the text \"x\"", "the number 7", "a table".
[[nodiscard]] std::string describe(const Node& node);

/// A scalar as text, without quotes; lists as their items, separated by ", ".
[[nodiscard]] std::string plain_text(const Node& node);

/// The tree of a TOML text. Duplicate keys are reported and left out, so that other mistakes show as well; nothing
/// after reporting another syntax error.
[[nodiscard]] std::optional<Node> parse_document(const std::shared_ptr<const std::string>& source,
                                                 std::string_view text, Diagnostics& mistakes);

/// The value that a person wrote after "KEY=" on the command line; every place in it is `place`. Nothing where the text
/// is no TOML value.
[[nodiscard]] std::optional<Node> parse_value(const Place& place, std::string_view text);

}  // namespace gradstorm::profiles
