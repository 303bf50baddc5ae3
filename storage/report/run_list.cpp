// SPDX-License-Identifier: Apache-2.0
#include "storage/report/format.h"
#include "storage/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gradstorm::report {

std::string run_list_table(std::span<const RunListRow> runs) {
    if (runs.empty()) return "no runs\n";
    constexpr std::size_t kShortUuid = 8;
    TextTable table(7, {"run", "uuid", "started", "profile", "ranks", "engine", "outcome"});
    for (const RunListRow& run : runs) {
        const std::string outcome{to_string(run.outcome)};
        table.add({fmt::format("{}", run.id), run.uuid.substr(0, kShortUuid), run.started_utc,
                   or_not_measured(run.profile_name), run.ranks == 0 ? kNotMeasured : fmt::format("{}", run.ranks),
                   or_not_measured(run.engine), run.reason.empty() ? outcome : outcome + ": " + run.reason});
    }
    return table.text();
}

std::string run_list_json(std::span<const RunListRow> runs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RunListRow& run : runs) {
        list.push_back({{"run", run.id},
                        {"uuid", run.uuid},
                        {"started_utc", run.started_utc},
                        {"profile", run.profile_name},
                        {"ranks", run.ranks},
                        {"engine", run.engine},
                        {"outcome", measure::to_string(run.outcome)},
                        {"reason", run.reason}});
    }
    return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gradstorm::report
