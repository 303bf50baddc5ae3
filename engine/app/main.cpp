// SPDX-License-Identifier: Apache-2.0
#include "engine/app/command_line.h"
#include "engine/app/commands.h"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace gradstorm::app;
    const auto command = parse_command_line(argc, argv);
    if (!command) {
        std::fputs(command.error().output.c_str(), stdout);
        std::fputs(command.error().error.c_str(), stderr);
        return command.error().exit_code;
    }
    return std::visit([](const auto& chosen) { return execute(chosen); }, *command);
}
