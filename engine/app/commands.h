// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/command_line.h"

/// The subcommands, one a file (command_NAME.cpp). Each does its work, writes to standard output what was asked for and
/// to standard error what a person should know, and returns the exit code.
namespace gradstorm::app {

[[nodiscard]] int execute(const RunCommand& command);
[[nodiscard]] int execute(const PlanCommand& command);
[[nodiscard]] int execute(const ProfileValidateCommand& command);
[[nodiscard]] int execute(const ProfileListCommand& command);
[[nodiscard]] int execute(const ProfileShowCommand& command);
[[nodiscard]] int execute(const ProfileSchemaCommand& command);
[[nodiscard]] int execute(const SelftestCommand& command);
[[nodiscard]] int execute(const ListCommand& command);
[[nodiscard]] int execute(const ShowCommand& command);
[[nodiscard]] int execute(const ReplaySeedCommand& command);

}  // namespace gradstorm::app
