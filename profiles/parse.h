// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/diagnostics.h"
#include "profiles/profile.h"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// From the text of a profile to its checked values. Cost grows with the text alone, never with what it describes:
/// nothing is expanded.
namespace gradstorm::profiles {

/// What the command line adds to a profile.
struct ParseOptions {
    /// --set KEY=VALUE, in order, the last one of a key wins. KEY is dotted and counts from 0: "run.iterations",
    /// "job.0.calls.2.bytes"; an index one past the end appends ("fault.0.drop=1%" on a profile without faults).
    /// VALUE is a TOML value; quotes around text may be left out.
    std::vector<std::string> overrides;
    /// --testbed FILE: its [[port]] and [bind] take the place of the profile's, and it may hold nothing else.
    std::optional<std::string> testbed;
    /// --dut-file FILE: a TOML file of free keys as in [dut]; wins over the profile.
    std::optional<std::string> dut_file;
    /// --dut KEY=VALUE; wins over both.
    std::vector<std::string> dut;
    /// false: the calls come from elsewhere (an imported trace), so [[job]] and [[flow]] may be absent.
    bool needs_traffic = true;
};

/// Either the profile, with defaults, overrides, testbed and [dut] applied, or every mistake in it, by place. `path` is
/// only a name for messages. Thread-safe; throws nothing but std::bad_alloc.
[[nodiscard]] tl::expected<Profile, Diagnostics> parse_profile(std::string_view path, std::string_view text,
                                                               const ParseOptions& options = {});

/// The same for a file, or, where `name` has no '/' and no such file exists, for the catalog profile of that name.
[[nodiscard]] tl::expected<Profile, Diagnostics> load_profile(const std::string& name,
                                                              const ParseOptions& options = {});

}  // namespace gradstorm::profiles
