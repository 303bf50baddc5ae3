// SPDX-License-Identifier: Apache-2.0
#include "engine/app/unhonoured.h"

#include "profiles/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace gradstorm::app {

namespace {

struct Setting {
    std::string_view table;
    std::string_view name;
};

/// What later versions act on. A key leaves the list with the change that makes it do something.
constexpr std::array kNotActedOn{
    Setting{"cluster", "rails"},
    Setting{"cluster", "nvlink_domain"},
    Setting{"transport", "gpudirect"},
    Setting{"transport", "qps_per_connection"},
    Setting{"transport", "service_level"},
    Setting{"transport", "congestion_control"},
    Setting{"transport", "lossless_priorities"},
    Setting{"bind", "rule"},
    Setting{"bind", "hca"},
};

/// What has no meaning where there are no threads and no frames of a port.
constexpr std::array kNotInVirtualTime{
    Setting{"transport", "idle"},
    Setting{"transport", "capture"},
    Setting{"transport", "capture_port"},
};

void add_changed(std::vector<std::string>& lines, const profiles::Profile& profile, std::span<const Setting> settings,
                 std::string_view why) {
    for (const Setting& setting : settings) {
        const std::string key = fmt::format("{}.{}", setting.table, setting.name);
        const auto found = std::find_if(profile.resolved.begin(), profile.resolved.end(),
                                        [&](const auto& resolved) { return resolved.first == key; });
        const profiles::schema::Key* schema = profiles::schema::find(setting.table, setting.name);
        if (found == profile.resolved.end() || schema == nullptr || found->second == schema->fallback) continue;
        lines.push_back(fmt::format("{} = {} changes nothing: {}", key, found->second, why));
    }
}

}  // namespace

std::vector<std::string> unhonoured_settings(const profiles::Profile& profile, bool virtual_time) {
    std::vector<std::string> lines;
    add_changed(lines, profile, kNotActedOn, "this version does not act on it");
    if (!virtual_time) return lines;
    add_changed(lines, profile, kNotInVirtualTime, "not in virtual time");
    if (profile.transport.fabric == "ports") {
        lines.emplace_back("transport.fabric = ports and [[port]] change nothing: virtual time has its own fabric");
    }
    return lines;
}

}  // namespace gradstorm::app
