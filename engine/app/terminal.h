// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <string_view>

/// The two streams of a command: what was asked for goes to standard output, everything else to standard error.
namespace gradstorm::app {

/// Exit codes of what failed before or beside the run; a run's own is measure::exit_code().
enum ExitCode : int { kExitInvalid = 2, kExitInfrastructure = 3, kExitBadInput = 4 };

/// The exit code that a failure of this kind means.
[[nodiscard]] int exit_code_of(ErrorCode code);

/// Writes text as it is. A standard output that cannot be written (closed pipe, full disk) makes the returned exit code
/// 3, otherwise it is `exit_code`.
[[nodiscard]] int write_output(std::string_view text, int exit_code = 0);

/// Writes text as it is to standard error. Whether that can be written decides nothing: a closed pipe or a full disk
/// loses the text, not the run.
void write_error(std::string_view text);

/// "gradstorm: text" on standard error; every line of a longer text.
void complain(std::string_view text);

/// complain() and the exit code.
[[nodiscard]] int fail(const Error& error);

/// Writes the mistakes of a profile, "file:line:column: what" each on its line, and returns the exit code.
[[nodiscard]] int refuse(std::string_view mistakes);

}  // namespace gradstorm::app
