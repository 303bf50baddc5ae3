// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/app/command_line.h"
#include "engine/measure/run_result.h"
#include "storage/store/run_store.h"

#include <string>
#include <vector>

/// The command line's formats, by name, on top of storage/report.
namespace gradstorm::app {

[[nodiscard]] std::string result_text(const measure::RunResult& run, OutputFormat format);

/// What a person should hear beside the result, one line each: warnings, stalls, and why the run did not pass.
[[nodiscard]] std::string remarks_text(const measure::RunResult& run);

[[nodiscard]] std::string run_list_text(const std::vector<store::RunSummary>& runs, bool as_json);

}  // namespace gradstorm::app
