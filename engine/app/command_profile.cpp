// SPDX-License-Identifier: Apache-2.0
#include "engine/app/commands.h"
#include "engine/app/subject.h"
#include "engine/app/terminal.h"
#include "profiles/catalog.h"
#include "profiles/diagnostics.h"
#include "profiles/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gradstorm::app {

namespace {

/// One line: "NAME: ok", with what this version cannot do with it, if anything.
std::string verdict_on(const std::string& name, const profiles::Profile& profile) {
    const auto workload = workload::from_profile(profile);
    const Result<void> able = workload ? supported(profile) : tl::unexpected(workload.error());
    if (able) return fmt::format("{}: ok\n", name);
    return fmt::format("{}: ok, but this version cannot run it: {}\n", name, able.error().message);
}

}  // namespace

int execute(const ProfileValidateCommand& command) {
    int exit_code = 0;
    std::string output;
    for (const SubjectOptions& options : command.subjects) {
        const auto profile = profiles::load_profile(options.subject, parse_options(options));
        if (profile) {
            output += verdict_on(options.subject, *profile);
        } else {
            exit_code = refuse(profiles::to_string(profile.error()));
        }
    }
    return write_output(output, exit_code);
}

int execute(const ProfileListCommand& /*command*/) {
    std::size_t width = 0;
    for (const profiles::CatalogEntry& entry : profiles::catalog()) width = std::max(width, entry.name.size());
    std::string output;
    for (const profiles::CatalogEntry& entry : profiles::catalog()) {
        output += fmt::format("{:<{}}  {}\n", entry.name, width, entry.summary);
    }
    return write_output(output);
}

int execute(const ProfileShowCommand& command) {
    if (const auto entry = profiles::find_in_catalog(command.name)) return write_output(entry->text);
    std::vector<std::string_view> names;
    for (const profiles::CatalogEntry& entry : profiles::catalog()) names.push_back(entry.name);
    const std::string_view nearest = profiles::nearest_name(command.name, names);
    complain(fmt::format("no profile '{}' in the catalog{}; 'gradstorm profile list' shows all", command.name,
                         nearest.empty() ? std::string{} : fmt::format("; did you mean '{}'?", nearest)));
    return kExitBadInput;
}

int execute(const ProfileSchemaCommand& command) {
    return write_output(command.json ? profiles::schema::schema_json() : profiles::schema::reference_markdown());
}

}  // namespace gradstorm::app
