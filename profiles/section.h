// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/document.h"
#include "profiles/schema.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// One table of a profile, read against the schema: every key with its value, the default where the text has none.
namespace gradstorm::profiles {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::uint64_t>;

/// A checked value; std::monostate: absent, without a default. Quantities are in base units.
using Value = std::variant<std::monostate, bool, std::uint64_t, std::string, Texts, Integers>;

struct Setting {
    const schema::Key* key = nullptr;
    Value value;
    Place place;          ///< of the value; of the table where the key is absent
    bool given = false;   ///< written by the user
    bool faulty = false;  ///< given, but wrong and reported: checks that need it are skipped
};

class Section;

/// A nested table, or a list of them.
struct Branch {
    const schema::Key* key = nullptr;
    std::vector<Section> sections;
    Place place;
    bool given = false;
    bool faulty = false;
};

class Section {
public:
    Section(std::string path, Place place) : path_(std::move(path)), place_(std::move(place)) {}

    [[nodiscard]] const std::string& path() const { return path_; }  ///< "job.0.calls.2"
    [[nodiscard]] const Place& place() const { return place_; }
    [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
    [[nodiscard]] const std::vector<Branch>& branches() const { return branches_; }
    /// For each key that the schema does not have, the known key that was most likely meant; "" for none.
    [[nodiscard]] const std::vector<std::string_view>& misspelt() const { return misspelt_; }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& free_keys() const { return free_keys_; }

    // The key must be one of the table's, of a type that holds T.
    [[nodiscard]] const Setting& setting(std::string_view key) const;
    [[nodiscard]] const Branch& branch(std::string_view key) const;
    [[nodiscard]] bool given(std::string_view key) const { return setting(key).given; }
    [[nodiscard]] bool sound(std::string_view key) const { return !setting(key).faulty; }
    [[nodiscard]] bool holds(std::string_view key) const {
        return !std::holds_alternative<std::monostate>(setting(key).value);
    }
    template <class T>
    [[nodiscard]] T get(std::string_view key, const T& absent = {}) const {
        const auto* value = std::get_if<T>(&setting(key).value);
        return value != nullptr ? *value : absent;
    }
    [[nodiscard]] std::uint64_t number(std::string_view key) const { return get<std::uint64_t>(key); }
    [[nodiscard]] std::string text(std::string_view key) const { return get<std::string>(key); }

    /// Gives a key without a written value its value in force.
    void settle(std::string_view key, Value value);
    [[nodiscard]] Branch& branch(std::string_view key);

private:
    friend class SectionReader;
    std::string path_;
    Place place_;
    std::vector<Setting> settings_;
    std::vector<Branch> branches_;
    std::vector<std::string_view> misspelt_;
    std::vector<std::pair<std::string, std::string>> free_keys_;
};

/// Reads the table `table` of the schema, with all tables below it. Mistakes are appended to `mistakes`; the section is
/// complete all the same, with defaults for what was wrong.
[[nodiscard]] Section read_section(std::string_view table, const Node& node, Diagnostics& mistakes);

/// "did you mean" and the like for a name that `table` does not have: "; did you mean 'bytes'?", or "".
[[nodiscard]] std::string hint_for_key(std::string_view table, std::string_view name);

/// The value as text, as it is kept in Profile::resolved; "" where absent.
[[nodiscard]] std::string to_text(const Setting& setting);

}  // namespace gradstorm::profiles
