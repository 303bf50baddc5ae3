// SPDX-License-Identifier: Apache-2.0
#include "engine/app/command_line.h"
#include "engine/app/commands.h"
#include "engine/app/terminal.h"

#include <cstdio>
#include <exception>

namespace {

int run(int argc, char** argv) {
    using namespace gradstorm::app;
    const auto command = parse_command_line(argc, argv);
    if (!command) {
        std::fputs(command.error().output.c_str(), stdout);
        write_error(command.error().error);
        return command.error().exit_code;
    }
    return std::visit([](const auto& chosen) { return execute(chosen); }, *command);
}

}  // namespace

/// Failures are results; what is thrown all the same (no memory) must not end in a core file.
int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gradstorm: %s\n", e.what());
        return gradstorm::app::kExitInfrastructure;
    }
}
