// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace gradstorm {

/// What kind of failure an Error is. The command line derives its exit code from it (docs/architecture.md, section 6).
enum class ErrorCode {
    invalid_input,  ///< a profile, option or input file is wrong: exit code 4
    unsupported,    ///< this build, host or back end cannot do what was asked: exit code 4
    device,         ///< a port, HCA, driver or memory could not be used: exit code 3
    peer,           ///< another process or host failed or went away: exit code 3
    timeout,        ///< a deadline passed: exit code 3
    store,          ///< the run store or a journal could not be read or written: exit code 3
    busy,           ///< another program has the run store locked, later it may work: exit code 3
    interrupted,    ///< the user asked to stop: exit code 2
};

/// One failure, as one line a user can act on: what, where, why, what to do. Lower case, no full stop.
struct Error {
    ErrorCode code = ErrorCode::invalid_input;
    std::string message;
};

/// The result of every fallible call outside the data path. Only the operations that tl::expected and std::expected
/// share are used, so that C++23 is a one-line switch.
template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> failure(ErrorCode code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace gradstorm
