// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace gradstorm::app {

/// How urgently the user wants the run to end. SIGINT and SIGTERM raise it by one each.
enum class StopRequest : int {
    none = 0,
    drain = 1,  ///< finish what is under way, store, exit
    abort = 2,  ///< drop what is under way, store what there is, exit
};

/// Installs the handlers for SIGINT and SIGTERM for the life of the object, ignores SIGPIPE, and puts the former
/// handlers back. One at a time a process.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// The number of stop signals so far; a session reads it from its own thread. Who else wants the run to stop raises
    /// it too.
    [[nodiscard]] static std::atomic<int>& count();
};

}  // namespace gradstorm::app
