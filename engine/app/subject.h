// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/command_line.h"
#include "engine/plan/plan.h"
#include "engine/workload/workload.h"
#include "profiles/parse.h"
#include "profiles/profile.h"

#include <tl/expected.hpp>

#include <string>

namespace gradstorm::app {

/// What a command works on: a profile with the workload it describes, or a trace with the workload it recorded and the
/// settings it runs with.
struct Subject {
    profiles::Profile profile;
    workload::Workload workload;
    plan::Plan plan;
};

/// Loads, validates, resolves and plans. The error is one line for each mistake, for standard error; exit code 4.
[[nodiscard]] tl::expected<Subject, std::string> load_subject(const SubjectOptions& options);

/// Whether this version can do what the profile asks for. What it cannot do or not judge is refused (`unsupported`)
/// before anything runs: it may not look as if it had passed.
[[nodiscard]] Result<void> supported(const profiles::Profile& profile);

/// The part of the options that the profile parser takes.
[[nodiscard]] profiles::ParseOptions parse_options(const SubjectOptions& options);

/// What the profile says that ideal times rest on.
[[nodiscard]] plan::Assumptions assumptions_of(const profiles::Profile& profile);

}  // namespace gradstorm::app
