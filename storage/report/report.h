// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/run_result.h"

#include <cstdint>
#include <span>
#include <string>

/// A run's record as text. Pure functions: equal records give equal text, whatever the locale. What was not measured is
/// N/A (null in JSON), never 0.
namespace gradstorm::report {

/// For people: what ran on what, one row a call, one row a port, the totals, what was emulated, and the outcome.
[[nodiscard]] std::string native_table(const measure::RunResult& run);

/// The table of nccl-tests, for scripts that read that one: exactly 13 tokens a row. Comment lines before the header
/// say that no library ran and what the in-place half holds. docs/measurement.md, "The nccl-tests table".
[[nodiscard]] std::string nccl_tests_table(const measure::RunResult& run);

/// One strict JSON document with everything in the record; units in the names of the keys; beside each null a key
/// NAME_reason.
[[nodiscard]] std::string json(const measure::RunResult& run);

/// One line of the list of runs.
struct RunListRow {
    std::int64_t id = 0;
    std::string uuid;
    std::string started_utc;
    std::string profile_name;
    std::uint32_t ranks = 0;
    std::string engine;
    measure::Outcome outcome = measure::Outcome::running;
    std::string reason;
};
[[nodiscard]] std::string run_list_table(std::span<const RunListRow> runs);
[[nodiscard]] std::string run_list_json(std::span<const RunListRow> runs);

}  // namespace gradstorm::report
