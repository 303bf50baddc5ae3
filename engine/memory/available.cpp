// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/available.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace gradstorm::memory {

std::optional<Bytes> available_memory() {
    std::ifstream file("/proc/meminfo");
    std::ostringstream text;
    text << file.rdbuf();
    return available_in(text.str());
}

std::optional<Bytes> available_in(std::string_view meminfo) {
    constexpr std::string_view kName = "MemAvailable:";
    const std::size_t name = meminfo.find(kName);
    if (name == std::string_view::npos) return std::nullopt;
    meminfo.remove_prefix(name + kName.size());
    meminfo.remove_prefix(std::min(meminfo.find_first_not_of(' '), meminfo.size()));
    std::uint64_t kibibytes = 0;
    const auto [end, error] = std::from_chars(meminfo.data(), meminfo.data() + meminfo.size(), kibibytes);
    if (error != std::errc{}) return std::nullopt;
    return Bytes{kibibytes * 1024};
}

}  // namespace gradstorm::memory
