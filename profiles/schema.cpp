// SPDX-License-Identifier: Apache-2.0
#include "profiles/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

namespace gradstorm::profiles::schema {

namespace {

using KeysByTable = std::map<std::string_view, std::span<const Key>>;

KeysByTable group_by_table() {
    KeysByTable groups;
    const auto all = keys();
    for (auto first = all.begin(); first != all.end();) {
        const auto last = std::find_if(first, all.end(), [&](const Key& key) { return key.table != first->table; });
        groups.emplace(first->table, std::span{first, last});
        first = last;
    }
    return groups;
}

}  // namespace

std::span<const Key> keys_of(std::string_view table) {
    static const KeysByTable groups = group_by_table();
    const auto group = groups.find(table);
    return group == groups.end() ? std::span<const Key>{} : group->second;
}

std::string table_of(const Key& key) {
    return key.table.empty() ? std::string{key.name} : fmt::format("{}.{}", key.table, key.name);
}

const Key* find(std::string_view table, std::string_view name) {
    for (const Key& key : keys_of(table)) {
        if (key.name == name) {
            return &key;
        }
    }
    return nullptr;
}

std::vector<std::string_view> choices_of(const Key& key) {
    std::vector<std::string_view> choices;
    std::string_view rest = key.choices;
    while (!rest.empty()) {
        const std::size_t bar = std::min(rest.find('|'), rest.size());
        choices.push_back(rest.substr(0, bar));
        rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    return choices;
}

std::optional<Dimension> dimension_of(Type type) {
    switch (type) {
        case Type::size: return Dimension::size;
        case Type::duration: return Dimension::duration;
        case Type::rate: return Dimension::rate;
        case Type::share: return Dimension::share;
        case Type::compute_rate: return Dimension::compute_rate;
        default: return std::nullopt;
    }
}

std::string_view to_string(Type type) {
    static constexpr std::array<std::string_view, 17> kNames{
        "boolean", "integer",        "size",      "duration", "rate", "share",        "compute rate",
        "load",    "limit",          "port",      "text",     "word", "list of text", "list of integers",
        "table",   "list of tables", "free table"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string range_text(const Key& key) {
    if (!key.choices.empty()) {
        return {};
    }
    const auto dimension = dimension_of(key.type);
    const bool numeric = key.type == Type::integer || key.type == Type::integers || key.type == Type::source_port;
    if (!dimension && !numeric) {
        return {};
    }
    const auto text = [&](std::uint64_t value) {
        return dimension ? format_quantity(value, *dimension) : fmt::format("{}", value);
    };
    if (dimension && key.max == kNoLimit) {
        return fmt::format("at least {}", text(key.min));
    }
    return fmt::format("from {} to {}", text(key.min), text(key.max));
}

std::string heading_of(std::string_view table) {
    if (table.empty()) {
        return "the top level";
    }
    const std::size_t dot = table.rfind('.');
    if (dot != std::string_view::npos) {
        return fmt::format("{} of {}", table.substr(dot + 1), heading_of(table.substr(0, dot)));
    }
    const Key* key = find("", table);
    const bool many = key != nullptr && key->type == Type::tables;
    return many ? fmt::format("[[{}]]", table) : fmt::format("[{}]", table);
}

}  // namespace gradstorm::profiles::schema
