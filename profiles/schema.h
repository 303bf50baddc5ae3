// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/quantity.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The schema of profiles: one table. Validation, defaults, `gradstorm profile schema --json` and
/// docs/profile-reference.md all come from it, so that they cannot disagree.
namespace gradstorm::profiles::schema {

/// The `format` of profiles that this version reads.
inline constexpr std::uint64_t kFormat = 1;

enum class Type {
    boolean,
    integer,  ///< min..max; with choices: only those numbers
    size,     ///< quantities (quantity.h): text with a unit
    duration,
    rate,
    share,
    compute_rate,
    load,         ///< a rate, a share or a packet rate
    limit,        ///< a size, duration, rate or share
    source_port,  ///< "random" or a UDP port from min to max
    text,
    choice,      ///< one of choices
    texts,       ///< list of text; with choices: only those
    integers,    ///< list of integers, each min..max
    table,       ///< one nested table
    tables,      ///< list of tables
    free_table,  ///< any keys
};

inline constexpr std::uint64_t kNoLimit = kLargestQuantity;

/// One key. Plain data; min, max and defaults of quantities are in base units and text, as in profiles.
struct Key {
    std::string_view table = {};  ///< "" top level, "run", "job", "job.calls", "job.calls.sweep"
    std::string_view name = {};
    Type type = Type::text;
    std::uint64_t min = 0;
    std::uint64_t max = kNoLimit;
    std::string_view fallback = {};  ///< the value in force where the key is absent; empty: none
    bool required = false;
    std::string_view choices = {};  ///< "auto|ring"
    std::string_view help = {};     ///< one sentence, no full stop
    std::string_view since = "0.1";
};

/// All keys; those of a table stand together, tables in the order of the reference.
[[nodiscard]] std::span<const Key> keys();

/// The keys of one table.
[[nodiscard]] std::span<const Key> keys_of(std::string_view table);

/// "job.calls" of ("job", "calls").
[[nodiscard]] std::string table_of(const Key& key);

[[nodiscard]] const Key* find(std::string_view table, std::string_view name);

[[nodiscard]] std::vector<std::string_view> choices_of(const Key& key);

/// The dimension of a quantity type; none for the others.
[[nodiscard]] std::optional<Dimension> dimension_of(Type type);

[[nodiscard]] std::string_view to_string(Type type);

/// "from 0 to 63", "from 8B to 1GiB", "at least 1"; empty where any value will do.
[[nodiscard]] std::string range_text(const Key& key);

/// How a person writes the table: "[run]", "[[job]]", "calls of [[job]]".
[[nodiscard]] std::string heading_of(std::string_view table);

/// The whole schema as one JSON document, for editors and other tools.
[[nodiscard]] std::string schema_json();

/// docs/profile-reference.md.
[[nodiscard]] std::string reference_markdown();

}  // namespace gradstorm::profiles::schema
