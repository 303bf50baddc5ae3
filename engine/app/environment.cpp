// SPDX-License-Identifier: Apache-2.0
#include "engine/app/environment.h"

#include "engine/app/version.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace gradstorm::app {

namespace {

/// The value behind the first "key : value" line of a /proc file; empty when there is none.
std::string first_value(const char* path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::size_t start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? std::string{} : line.substr(start);
    }
    return {};
}

std::string cores_owned() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return "unknown";
    return fmt::format("{} of {}", CPU_COUNT(&set), get_nprocs_conf());
}

std::string or_unknown(const std::string& value) { return value.empty() ? "unknown" : value; }

}  // namespace

measure::KeyValues host_environment() {
    measure::KeyValues values;
    utsname names{};
    const bool named = uname(&names) == 0;
    values.emplace_back("host", named ? names.nodename : "unknown");
    values.emplace_back("cpu", or_unknown(first_value("/proc/cpuinfo", "model name")));
    values.emplace_back("cores", cores_owned());
    values.emplace_back("machine", named ? names.machine : "unknown");
    values.emplace_back("kernel", named ? fmt::format("{} {}", names.sysname, names.release) : "unknown");
    values.emplace_back("memory", or_unknown(first_value("/proc/meminfo", "MemTotal")));
    values.emplace_back("gradstorm", version_number());
    for (auto& [name, version] : library_versions()) values.emplace_back(name, version);
    return values;
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::string new_uuid() {
    std::array<unsigned char, 16> bytes{};
    while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    }
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", bytes[i]);
    }
    return text;
}

}  // namespace gradstorm::app
