// SPDX-License-Identifier: Apache-2.0
#include "profiles/override.h"

#include "profiles/schema.h"
#include "profiles/section.h"

#include <fmt/format.h>

#include <charconv>
#include <span>
#include <utility>
#include <vector>

namespace gradstorm::profiles {

using schema::Key;
using schema::Type;

namespace {

std::vector<std::string_view> split_at_dots(std::string_view path) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t dot = path.find('.');
        parts.push_back(path.substr(0, dot));
        if (dot == std::string_view::npos) {
            return parts;
        }
        path.remove_prefix(dot + 1);
    }
}

Node empty_node(Node::Kind kind, const Place& place) {
    Node node;
    node.kind = kind;
    node.place = place;
    return node;
}

Node text_node(std::string_view text, const Place& place) {
    Node node = empty_node(Node::Kind::text, place);
    node.text = text;
    return node;
}

/// The walk of one assignment from the top of the document down to what it sets.
class Assignment {
public:
    Assignment(std::string_view value, Place place, Diagnostics& mistakes)
        : value_(value), place_(std::move(place)), mistakes_(mistakes) {}

    void set_in_table(std::string_view table, Node& node, std::span<const std::string_view> path) {
        const Key* key = schema::find(table, path.front());
        if (key == nullptr) {
            const std::string in = table.empty() ? "" : " in " + schema::heading_of(table);
            return report(fmt::format("unknown key '{}'{}{}", path.front(), in, hint_for_key(table, path.front())));
        }
        const auto rest = path.subspan(1);
        switch (key->type) {
            case Type::free_table: return set_free_key(node, *key, rest);
            case Type::table: return set_below_table(node, *key, rest);
            case Type::tables: return set_below_list(node, *key, rest);
            default: break;
        }
        if (!rest.empty()) {
            return report(fmt::format("'{}' is a value and holds no key '{}'", key->name, rest.front()));
        }
        node.set(key->name, value_for(key->type));
    }

private:
    void report(std::string message) { mistakes_.push_back(mistake_at(place_, std::move(message))); }

    /// Text needs no quotes here: the shell took them away.
    [[nodiscard]] Node value_for(Type type) const {
        const bool quoted = !value_.empty() && (value_.front() == '"' || value_.front() == '\'');
        const bool toml = type == Type::boolean || type == Type::integer || type == Type::source_port ||
                          type == Type::texts || type == Type::integers || type == Type::table || type == Type::tables;
        if (toml || quoted) {
            if (auto parsed = parse_value(place_, value_)) {
                return std::move(*parsed);
            }
        }
        return text_node(value_, place_);
    }

    void set_free_key(Node& node, const Key& key, std::span<const std::string_view> rest) {
        if (rest.empty()) {
            return report(fmt::format("name the key: {}.KEY=VALUE", key.name));
        }
        Node* table = child(node, key.name, Node::Kind::table);
        std::string name;
        for (const std::string_view part : rest) {
            name += (name.empty() ? "" : ".") + std::string{part};
        }
        if (table != nullptr) {
            table->set(name, text_node(value_, place_));
        }
    }

    void set_below_table(Node& node, const Key& key, std::span<const std::string_view> rest) {
        if (rest.empty()) {
            return node.set(key.name, value_for(key.type));
        }
        Node* table = child(node, key.name, Node::Kind::table);
        if (table != nullptr) {
            set_in_table(schema::table_of(key), *table, rest);
        }
    }

    void set_below_list(Node& node, const Key& key, std::span<const std::string_view> rest) {
        if (rest.empty()) {
            return node.set(key.name, value_for(key.type));
        }
        std::size_t index = 0;
        const char* end = rest.front().data() + rest.front().size();
        const auto [stop, error] = std::from_chars(rest.front().data(), end, index);
        if (error != std::errc{} || stop != end) {
            return report(
                fmt::format("'{}' is a list: name the entry by its number from 0, as in {}.0", key.name, key.name));
        }
        Node* list = child(node, key.name, Node::Kind::array);
        if (list == nullptr) {
            return;
        }
        if (index > list->items.size()) {
            return report(fmt::format("there is no entry {} in '{}', which has {} (they count from 0)", index, key.name,
                                      list->items.size()));
        }
        if (rest.size() == 1) {
            Node value = value_for(Type::table);
            if (index == list->items.size()) {
                return list->items.push_back(std::move(value));
            }
            list->items[index] = std::move(value);
            return;
        }
        if (index == list->items.size()) {
            list->items.push_back(empty_node(Node::Kind::table, place_));
        }
        if (list->items[index].kind == Node::Kind::table) {
            set_in_table(schema::table_of(key), list->items[index], rest.subspan(1));
        }
    }

    /// The table or list `name` of `node`, made where absent; null where the profile has something else there, which
    /// is reported when the document is read.
    Node* child(Node& node, std::string_view name, Node::Kind kind) const {
        if (node.find(name) == nullptr) {
            node.set(name, empty_node(kind, place_));
        }
        Node* found = node.find(name);
        return found->kind == kind ? found : nullptr;
    }

    std::string_view value_;
    Place place_;
    Diagnostics& mistakes_;
};

}  // namespace

void apply_override(Node& document, const std::string& assignment, Diagnostics& mistakes) {
    const Place place{std::make_shared<const std::string>("--set " + assignment), 0, 0};
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
        mistakes.push_back(mistake_at(place, "write --set KEY=VALUE, such as --set run.iterations=10"));
        return;
    }
    const std::string_view text{assignment};
    const auto path = split_at_dots(text.substr(0, equals));
    Assignment{text.substr(equals + 1), place, mistakes}.set_in_table("", document, path);
}

void apply_testbed(Node& document, Node testbed, Diagnostics& mistakes) {
    document.erase("port");
    document.erase("bind");
    if (Node* transport = document.find("transport"); transport != nullptr) {
        transport->erase("fabric");  // follows from the ports
    }
    for (Member& member : testbed.members) {
        if (member.key == "port" || member.key == "bind") {
            document.members.push_back(std::move(member));
        } else if (member.key != "format") {
            mistakes.push_back(mistake_at(
                member.place, fmt::format("a testbed file holds [[port]] and [bind] only, not '{}'", member.key)));
        }
    }
}

}  // namespace gradstorm::profiles
