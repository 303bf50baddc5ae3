// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The command line, as plain values. The only file that knows the parser library is command_line.cpp.
namespace gradstorm::app {

/// How a subject (profile file, catalog name or trace) is adjusted; shared by every command that takes one.
struct SubjectOptions {
    std::string subject;
    std::vector<std::string> set;        ///< "key=value"
    std::optional<std::string> testbed;  ///< file
    std::vector<std::string> dut;        ///< "key=value"
    std::optional<std::string> dut_file;
};

enum class OutputFormat : std::uint8_t { table, nccl_tests, json };

struct RunCommand {
    SubjectOptions subject;
    std::optional<std::string> store;  ///< file; empty: the default store of this account
    bool no_store = false;
    OutputFormat format = OutputFormat::table;
    std::optional<std::string> events;      ///< file, or "-" for standard output, which then carries nothing else
    std::uint32_t node = 0;                 ///< which node of the cluster this process is
    std::optional<std::string> rendezvous;  ///< "unix:PATH"; empty: this process is all nodes
    Nanoseconds stop_timeout{std::chrono::seconds{10}};
};

struct PlanCommand {
    SubjectOptions subject;
    bool json = false;
};

struct ProfileValidateCommand {
    std::vector<SubjectOptions> subjects;
};
struct ProfileListCommand {};
struct ProfileShowCommand {
    std::string name;
};
struct ProfileSchemaCommand {
    bool json = false;
};

struct SelftestCommand {};

struct ListCommand {
    std::optional<std::string> store;
    bool json = false;
};

struct ShowCommand {
    std::string run;  ///< number or leading digits of the uuid
    std::optional<std::string> store;
    OutputFormat format = OutputFormat::table;
};

/// A run in virtual time: deterministic, no hardware, no store.
struct ReplaySeedCommand {
    std::uint64_t seed = 1;
    SubjectOptions subject;
    std::optional<std::string> journal;  ///< where the journal is written; empty: not kept
};

using Command = std::variant<RunCommand, PlanCommand, ProfileValidateCommand, ProfileListCommand, ProfileShowCommand,
                             ProfileSchemaCommand, SelftestCommand, ListCommand, ShowCommand, ReplaySeedCommand>;

/// The command line asked for nothing but text (--help, --version), or was wrong.
struct CommandLineEnd {
    int exit_code = 0;
    std::string output;  ///< for standard output
    std::string error;   ///< for standard error
};

[[nodiscard]] tl::expected<Command, CommandLineEnd> parse_command_line(int argc, const char* const* argv);

}  // namespace gradstorm::app
