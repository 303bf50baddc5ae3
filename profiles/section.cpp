// SPDX-License-Identifier: Apache-2.0
#include "profiles/section.h"

#include "profiles/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradstorm::profiles {

using schema::Key;
using schema::Type;

namespace {

bool is_nested(const Key& key) {
    return key.type == Type::table || key.type == Type::tables || key.type == Type::free_table;
}

std::string join(std::string_view path, std::string_view name) {
    return path.empty() ? std::string{name} : fmt::format("{}.{}", path, name);
}

/// "in [run]", "in job.0.calls.2"; nothing at the top level.
std::string where(std::string_view table, const std::string& path) {
    if (path.empty()) {
        return {};
    }
    return path == table && table.find('.') == std::string_view::npos ? fmt::format(" in [{}]", path)
                                                                      : fmt::format(" in {}", path);
}

std::string_view nearest_key(std::string_view table, std::string_view name) {
    std::vector<std::string_view> names;
    for (const Key& key : schema::keys_of(table)) {
        names.push_back(key.name);
    }
    return nearest_name(name, names);
}

}  // namespace

std::string hint_for_key(std::string_view table, std::string_view name) {
    if (const auto nearest = nearest_key(table, name); !nearest.empty()) {
        return fmt::format("; did you mean '{}'?", nearest);
    }
    for (const Key& key : schema::keys()) {
        if (key.name == name && !key.table.empty()) {
            return fmt::format("; '{}' is a key of {}", name, schema::heading_of(key.table));
        }
    }
    return {};
}

class SectionReader {
public:
    explicit SectionReader(Diagnostics& mistakes) : mistakes_(mistakes) {}

    Section read(std::string_view table, std::string path, const Node& node) {
        Section section{std::move(path), node.place};
        for (const Key& key : schema::keys_of(table)) {
            if (is_nested(key)) {
                section.branches_.push_back({&key, {}, node.place});
            } else {
                section.settings_.push_back({&key, default_of(key), node.place});
            }
        }
        for (const Member& member : node.members) {
            read_member(table, section, member);
        }
        for (Branch& branch : section.branches_) {
            finish(section, branch);
        }
        for (const Setting& setting : section.settings_) {
            const auto& misspelt = section.misspelt_;
            const bool meant = std::find(misspelt.begin(), misspelt.end(), setting.key->name) != misspelt.end();
            if (setting.key->required && !setting.given && !meant) {
                report(section.place_, fmt::format("'{}' is missing{}: {}", setting.key->name,
                                                   where(table, section.path_), setting.key->help));
            }
        }
        return section;
    }

private:
    void report(const Place& place, std::string message) { mistakes_.push_back(mistake_at(place, std::move(message))); }

    void read_member(std::string_view table, Section& section, const Member& member) {
        const Key* key = schema::find(table, member.key);
        if (key == nullptr) {
            section.misspelt_.push_back(nearest_key(table, member.key));
            report(member.place, unknown(table, section, member));
        } else if (is_nested(*key)) {
            read_branch(section, branch_of(section, *key), member);
        } else {
            Setting& setting = setting_of(section, *key);
            setting.given = true;
            setting.place = member.value.place;
            auto value = convert(*key, member.value, mistakes_);
            setting.faulty = !value.has_value();
            if (value) {
                setting.value = std::move(*value);
            }
        }
    }

    static std::string unknown(std::string_view table, const Section& section, const Member& member) {
        const bool as_table = member.value.kind == Node::Kind::table && table.empty();
        return fmt::format("unknown {} '{}'{}{}", as_table ? "table" : "key", member.key, where(table, section.path_),
                           hint_for_key(table, member.key));
    }

    static Setting& setting_of(Section& section, const Key& key) {
        return *std::find_if(section.settings_.begin(), section.settings_.end(),
                             [&](const Setting& setting) { return setting.key == &key; });
    }

    static Branch& branch_of(Section& section, const Key& key) {
        return *std::find_if(section.branches_.begin(), section.branches_.end(),
                             [&](const Branch& branch) { return branch.key == &key; });
    }

    void read_branch(Section& section, Branch& branch, const Member& member) {
        branch.given = true;
        branch.place = member.value.place;
        const Key& key = *branch.key;
        const std::string path = join(section.path_, key.name);
        if (key.type == Type::tables) {
            read_list(branch, path, member.value);
        } else if (member.value.kind != Node::Kind::table) {
            branch.faulty = true;
            const bool list = member.value.kind == Node::Kind::array && key.table.empty();
            report(member.value.place,
                   list ? fmt::format("'{}' may stand only once: write [{}]", key.name, key.name)
                        : fmt::format("'{}' must be a table, not {}", key.name, describe(member.value)));
        } else if (key.type == Type::free_table) {
            read_free_keys(section, {}, member.value);
        } else {
            branch.sections.push_back(read(schema::table_of(key), path, member.value));
        }
    }

    void read_list(Branch& branch, const std::string& path, const Node& list) {
        const Key& key = *branch.key;
        if (list.kind != Node::Kind::array) {
            branch.faulty = true;
            const bool table = list.kind == Node::Kind::table && key.table.empty();
            report(list.place, table ? fmt::format("write [[{}]], not [{}]: there may be several", key.name, key.name)
                                     : fmt::format("'{}' must be a list of tables, not {}", key.name, describe(list)));
            return;
        }
        for (const Node& item : list.items) {
            if (item.kind == Node::Kind::table) {
                const std::string item_path = fmt::format("{}.{}", path, branch.sections.size());
                branch.sections.push_back(read(schema::table_of(key), item_path, item));
            } else {
                branch.faulty = true;
                report(item.place,
                       fmt::format("'{}' must be a list of tables, but holds {}", key.name, describe(item)));
            }
        }
    }

    void read_free_keys(Section& section, const std::string& prefix, const Node& table) {
        for (const Member& member : table.members) {
            const std::string name = join(prefix, member.key);
            if (member.value.kind == Node::Kind::table) {
                read_free_keys(section, name, member.value);
            } else {
                // --set appends a key with dots in its name; the later one wins.
                std::erase_if(section.free_keys_, [&](const auto& pair) { return pair.first == name; });
                section.free_keys_.emplace_back(name, plain_text(member.value));
            }
        }
    }

    /// [run], [cluster], ... have defaults for all keys: absent, they are as an empty table. Tables below a list have
    /// no meaning of their own where absent.
    void finish(const Section& section, Branch& branch) {
        if (branch.key->type == Type::table && branch.sections.empty() && branch.key->table.empty()) {
            Node empty;
            empty.place = section.place_;
            branch.sections.push_back(read(schema::table_of(*branch.key), std::string{branch.key->name}, empty));
        }
    }

    Diagnostics& mistakes_;
};

const Setting& Section::setting(std::string_view key) const {
    for (const Setting& setting : settings_) {
        if (setting.key->name == key) {
            return setting;
        }
    }
    throw std::logic_error(fmt::format("the schema has no key '{}' at '{}'", key, path_));
}

const Branch& Section::branch(std::string_view key) const {
    for (const Branch& branch : branches_) {
        if (branch.key->name == key) {
            return branch;
        }
    }
    throw std::logic_error(fmt::format("the schema has no table '{}' at '{}'", key, path_));
}

Branch& Section::branch(std::string_view key) {
    return const_cast<Branch&>(std::as_const(*this).branch(key));  // the object itself is not const
}

void Section::settle(std::string_view key, Value value) {
    for (Setting& setting : settings_) {
        if (setting.key->name == key) {
            setting.value = std::move(value);
            return;
        }
    }
}

Section read_section(std::string_view table, const Node& node, Diagnostics& mistakes) {
    return SectionReader{mistakes}.read(table, std::string{table}, node);
}

}  // namespace gradstorm::profiles
