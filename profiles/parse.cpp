// SPDX-License-Identifier: Apache-2.0
#include "profiles/parse.h"

#include "profiles/build.h"
#include "profiles/catalog.h"
#include "profiles/consistency.h"
#include "profiles/document.h"
#include "profiles/override.h"
#include "profiles/read_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

namespace gradstorm::profiles {
namespace {

using Source = std::shared_ptr<const std::string>;

Diagnostic plain_mistake(std::string path, std::string message) { return {std::move(path), 0, 0, std::move(message)}; }

/// A file named by an option, as a tree; nothing after reporting why not.
std::optional<Node> read_document(const std::string& path, Diagnostics& mistakes) {
    const auto text = read_text(path);
    if (!text) {
        mistakes.push_back(plain_mistake(path, text.error()));
        return std::nullopt;
    }
    return parse_document(std::make_shared<const std::string>(path), *text, mistakes);
}

/// Whether the text is of this format. If not, nothing else can be said about it.
bool check_format(Node& document, Diagnostics& mistakes) {
    const Node* format = document.find("format");
    if (format == nullptr || format->kind != Node::Kind::integer || format->integer == std::int64_t{schema::kFormat}) {
        return true;
    }
    mistakes.push_back(mistake_at(
        format->place,
        fmt::format("profile format {} is unknown: this version reads format {}", format->integer, schema::kFormat)));
    return false;
}

void set_key(KeyValues& keys, std::string key, std::string value) {
    const auto old = std::find_if(keys.begin(), keys.end(), [&](const auto& pair) { return pair.first == key; });
    if (old != keys.end()) {
        old->second = std::move(value);
    } else {
        keys.emplace_back(std::move(key), std::move(value));
    }
}

/// The keys of a --dut-file: at its top level, or in [dut].
void add_dut_file(const std::string& path, KeyValues& dut, Diagnostics& mistakes) {
    auto document = read_document(path, mistakes);
    if (!document) {
        return;
    }
    Node keys = std::move(*document);
    keys.erase("format");
    if (const Node* table = keys.find("dut"); table != nullptr && table->kind == Node::Kind::table) {
        for (const Member& member : keys.members) {
            if (member.key != "dut") {
                mistakes.push_back(mistake_at(member.place, fmt::format("'{}' stands outside [dut]", member.key)));
            }
        }
    } else {
        Node root;
        root.place = keys.place;
        root.set("dut", std::move(keys));
        keys = std::move(root);
    }
    // Only the free keys are wanted: what the rest of a profile lacks is no mistake here.
    Diagnostics ignored;
    Node root;
    root.set("dut", std::move(*keys.find("dut")));
    const Section section = read_section("", root, ignored);
    for (const auto& [key, value] : section.free_keys()) set_key(dut, key, value);
}

void add_dut_keys(const ParseOptions& options, KeyValues& dut, Diagnostics& mistakes) {
    if (options.dut_file) {
        add_dut_file(*options.dut_file, dut, mistakes);
    }
    for (const std::string& assignment : options.dut) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0) {
            mistakes.push_back(plain_mistake("--dut " + assignment, "write --dut KEY=VALUE, such as --dut kmin=150KB"));
        } else {
            set_key(dut, assignment.substr(0, equals), assignment.substr(equals + 1));
        }
    }
}

void check_consistency(const Section& root, bool needs_traffic, Diagnostics& mistakes) {
    check_cluster(root, mistakes);
    check_jobs(root, mistakes);
    check_transport(root, mistakes);
    check_faults(root, mistakes);
    check_ports(root, mistakes);
    check_flows(root, mistakes);
    check_criteria(root, mistakes);
    const Branch& jobs = root.branch("job");
    const bool traffic = jobs.given || root.branch("flow").given;
    if (needs_traffic && !traffic && root.misspelt().empty()) {
        mistakes.push_back(
            mistake_at(root.place(), "the profile sends nothing: give at least one [[job]] or [[flow]]"));
    }
}

/// By place within each source; sources in the order in which they came up, the profile first.
void sort_by_place(std::string_view path, Diagnostics& mistakes) {
    std::vector<std::string> sources{std::string{path}};
    const auto rank = [&](const Diagnostic& mistake) {
        return std::find(sources.begin(), sources.end(), mistake.path) - sources.begin();
    };
    for (const Diagnostic& mistake : mistakes) {
        if (rank(mistake) == std::ssize(sources)) {
            sources.push_back(mistake.path);
        }
    }
    std::stable_sort(mistakes.begin(), mistakes.end(), [&](const Diagnostic& a, const Diagnostic& b) {
        return std::tuple{rank(a), a.line, a.column} < std::tuple{rank(b), b.line, b.column};
    });
}

}  // namespace

tl::expected<Profile, Diagnostics> parse_profile(std::string_view path, std::string_view text,
                                                 const ParseOptions& options) {
    Diagnostics mistakes;
    auto document = parse_document(std::make_shared<const std::string>(path), text, mistakes);
    if (!document) {
        return tl::unexpected(std::move(mistakes));
    }
    if (!check_format(*document, mistakes)) {
        return tl::unexpected(std::move(mistakes));
    }
    if (options.testbed) {
        auto testbed = read_document(*options.testbed, mistakes);
        if (testbed && check_format(*testbed, mistakes)) {
            apply_testbed(*document, std::move(*testbed), mistakes);
        }
    }
    for (const std::string& assignment : options.overrides) {
        apply_override(*document, assignment, mistakes);
    }

    Section root = read_section("", *document, mistakes);
    settle_defaults(root);
    check_consistency(root, options.needs_traffic, mistakes);
    Profile profile = build_profile(root);
    add_dut_keys(options, profile.dut, mistakes);
    if (!mistakes.empty()) {
        sort_by_place(path, mistakes);
        return tl::unexpected(std::move(mistakes));
    }
    profile.path = path;
    profile.text = text;
    return profile;
}

tl::expected<Profile, Diagnostics> load_profile(const std::string& name, const ParseOptions& options) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(name, ignored);
    if (std::filesystem::exists(name, ignored) && !(folder && find_in_catalog(name))) {
        const auto text = read_text(name);
        if (!text) {
            return tl::unexpected(Diagnostics{plain_mistake(name, text.error())});
        }
        return parse_profile(name, *text, options);
    }
    if (const auto entry = find_in_catalog(name)) {
        return parse_profile("catalog:" + name, entry->text, options);
    }
    if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
        return tl::unexpected(Diagnostics{plain_mistake(name, "there is no such file")});
    }
    std::vector<std::string_view> names;
    for (const CatalogEntry& entry : catalog()) {
        names.push_back(entry.name);
    }
    const auto nearest = nearest_name(name, names);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
    return tl::unexpected(
        Diagnostics{plain_mistake(name, "there is no such file and no profile of that name in the catalog" + hint)});
}

}  // namespace gradstorm::profiles
