// SPDX-License-Identifier: Apache-2.0
#include "storage/store/process_identity.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace gradstorm::store {
namespace {

/// Field 22 of /proc/PID/stat. Counted behind the last ')': the name in field 2 may hold blanks and brackets. Empty for
/// a process that is gone, or dead and not yet reaped.
std::optional<std::int64_t> start_of(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(line.substr(name_end + 1));
    std::string field;
    constexpr int kState = 3;
    constexpr int kStartTime = 22;
    for (int n = kState; n < kStartTime; ++n) {
        fields >> field;
        if (n == kState && (field == "Z" || field == "X")) return std::nullopt;
    }
    std::int64_t start = 0;
    if (!(fields >> start)) return std::nullopt;
    return start;
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

}  // namespace

ProcessIdentity this_process() {
    const auto pid = static_cast<std::int64_t>(::getpid());
    return {pid, start_of(pid).value_or(0), boot_id()};
}

bool is_alive(const ProcessIdentity& process) {
    return process.boot_id == boot_id() && start_of(process.pid) == process.start_ticks;
}

}  // namespace gradstorm::store
