// SPDX-License-Identifier: Apache-2.0
#include "engine/app/terminal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gradstorm::app {

int exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_input:
        case ErrorCode::unsupported: return kExitBadInput;
        case ErrorCode::interrupted: return kExitInvalid;
        case ErrorCode::device:
        case ErrorCode::peer:
        case ErrorCode::timeout:
        case ErrorCode::store:
        case ErrorCode::busy: return kExitInfrastructure;
    }
    return kExitInfrastructure;
}

int write_output(std::string_view text, int exit_code) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (written) return exit_code;
    complain(fmt::format("standard output could not be written: {}", std::strerror(errno)));
    return kExitInfrastructure;
}

void write_error(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stderr) == text.size()) std::fflush(stderr);
}

void complain(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (!line.empty()) write_error(fmt::format("gradstorm: {}\n", line));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
}

int fail(const Error& error) {
    complain(error.message);
    return exit_code_of(error.code);
}

int refuse(std::string_view mistakes) {
    write_error(fmt::format("{}\n", mistakes));
    return kExitBadInput;
}

}  // namespace gradstorm::app
