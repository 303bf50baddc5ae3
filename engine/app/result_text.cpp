// SPDX-License-Identifier: Apache-2.0
#include "engine/app/result_text.h"

#include "storage/report/report.h"

#include <fmt/format.h>

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

std::string run_list_text(const std::vector<store::RunSummary>& runs, bool as_json) {
    std::vector<report::RunListRow> rows;
    rows.reserve(runs.size());
    for (const store::RunSummary& run : runs) {
        rows.push_back({run.id.value, run.uuid, run.started_utc, run.profile_name, run.ranks, run.engine, run.outcome,
                        run.reason});
    }
    return as_json ? report::run_list_json(rows) : report::run_list_table(rows);
}

}  // namespace gradstorm::app
