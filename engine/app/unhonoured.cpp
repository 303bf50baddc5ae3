// SPDX-License-Identifier: Apache-2.0
#include "engine/app/unhonoured.h"

#include "profiles/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

}  // namespace

std::vector<std::string> unhonoured_settings(const profiles::Profile& profile) {
    std::vector<std::string> lines;
    for (const Setting& setting : kNotActedOn) {
        const std::string key = fmt::format("{}.{}", setting.table, setting.name);
        const auto found = std::find_if(profile.resolved.begin(), profile.resolved.end(),
                                        [&](const auto& resolved) { return resolved.first == key; });
        const profiles::schema::Key* schema = profiles::schema::find(setting.table, setting.name);
        if (found == profile.resolved.end() || schema == nullptr || found->second == schema->fallback) continue;
        lines.push_back(fmt::format("{} = {} changes nothing: this version does not act on it", key, found->second));
    }
    return lines;
}

}  // namespace gradstorm::app
