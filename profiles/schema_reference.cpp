// SPDX-License-Identifier: Apache-2.0
#include "profiles/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace gradstorm::profiles::schema {
namespace {

constexpr std::string_view kIntroduction = R"(# Profile reference

<!-- Generated from the schema table (profiles/schema_table.cpp); a test holds both together. -->

A profile is a TOML file. It says what to send (`[[job]]`, or `[[flow]]` and `[[phase]]`), how (`[library]`,
`[transport]`) and a default where (`[[port]]`, `[bind]`). `gradstorm profile validate FILE` reports every mistake in
it, each as `file:line:column: message`.

* Sizes, times, rates and shares are text with a unit; a bare number is an error. The units:
)";

constexpr std::string_view kRules =
    R"(* `--set KEY=VALUE` changes a key for one run. Keys are dotted and lists count from 0: `--set run.iterations=3`,
  `--set job.0.calls.2.bytes=4MiB`. One past the end of a list adds an entry: `--set fault.0.drop=1%`. Text needs no
  quotes there.
* `--testbed FILE` replaces all of `[[port]]` and `[bind]`, so that one profile runs unchanged on a laptop and in a lab.
* `--dut KEY=VALUE` and `--dut-file FILE` add to `[dut]` and win over it.
* An unknown key is an error, never ignored.
)";

/// '|' would end a cell.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '|') {
            escaped += '\\';
        }
        escaped += c;
    }
    return escaped;
}

std::string code_list(const std::vector<std::string_view>& words) {
    std::string list;
    for (const std::string_view word : words) {
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", word);
    }
    return list;
}

std::string default_text(const Key& key) {
    if (key.required) {
        return "required";
    }
    return key.fallback.empty() ? "" : fmt::format("`{}`", key.fallback);
}

std::string row(const Key& key) {
    const std::string values = key.choices.empty() ? range_text(key) : code_list(choices_of(key));
    return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", key.name, to_string(key.type), values, default_text(key),
                       cell(key.help), key.since);
}

}  // namespace

std::string reference_markdown() {
    std::string page{kIntroduction};
    for (const Dimension dimension : {Dimension::size, Dimension::duration, Dimension::rate, Dimension::share,
                                      Dimension::compute_rate, Dimension::packet_rate}) {
        page += fmt::format("  * {}: {}\n", profiles::to_string(dimension), unit_list(dimension));
    }
    page += kRules;
    std::string_view table = "none yet";
    for (const Key& key : keys()) {
        if (key.table != table) {
            table = key.table;
            const std::string heading = table.empty() ? "Top level" : fmt::format("`{}`", heading_of(table));
            page += fmt::format("\n## {}\n\n", heading);
            const std::size_t dot = std::min(table.rfind('.'), table.size());
            const Key* parent = table.empty()         ? nullptr
                                : dot == table.size() ? find("", table)
                                                      : find(table.substr(0, dot), table.substr(dot + 1));
            if (parent != nullptr) {
                page += fmt::format("{}.\n\n", parent->help);
            }
            page += "| key | type | values | default | meaning | since |\n|---|---|---|---|---|---|\n";
        }
        page += row(key);
    }
    return page;
}

}  // namespace gradstorm::profiles::schema
