// SPDX-License-Identifier: Apache-2.0
#include "engine/app/result_text.h"

#include "storage/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gradstorm::app {

std::string result_text(const measure::RunResult& run, OutputFormat format) {
    switch (format) {
        case OutputFormat::table: return report::native_table(run);
        case OutputFormat::nccl_tests: return report::nccl_tests_table(run);
        case OutputFormat::json: return report::json(run);
    }
    return {};
}

std::string remarks_text(const measure::RunResult& run) {
    std::string text;
    for (const measure::RunEvent& event : run.events) {
        if (event.kind == "warning" || event.kind == "stall") text += fmt::format("{}: {}\n", event.kind, event.text);
    }
    if (run.outcome != measure::Outcome::pass) {
        text += fmt::format("{}: {}\n", measure::to_string(run.outcome), run.reason);
    }
    return text;
}

std::string run_list_text(const std::vector<store::RunSummary>& runs) {
    std::vector<report::RunListRow> rows;
    rows.reserve(runs.size());
    for (const store::RunSummary& run : runs) {
        rows.push_back({run.id.value, run.uuid, run.started_utc, run.profile_name, run.ranks, run.engine, run.outcome,
                        run.reason});
    }
    return report::run_list_table(rows);
}

std::string run_list_json(const std::vector<store::RunSummary>& runs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const store::RunSummary& run : runs) {
        list.push_back({{"run", run.id.value},
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

}  // namespace gradstorm::app
