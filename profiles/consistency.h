// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/section.h"

/// Values that are each right but contradict each other. A check is left out where a value that it needs was already
/// refused, so that one mistake gives one message.
namespace gradstorm::profiles {

void check_cluster(const Section& root, Diagnostics& mistakes);
void check_jobs(const Section& root, Diagnostics& mistakes);
void check_transport(const Section& root, Diagnostics& mistakes);
void check_faults(const Section& root, Diagnostics& mistakes);
void check_ports(const Section& root, Diagnostics& mistakes);
void check_flows(const Section& root, Diagnostics& mistakes);
void check_criteria(const Section& root, Diagnostics& mistakes);

/// The number of ranks; nothing where [cluster] was refused.
[[nodiscard]] std::optional<std::uint64_t> sound_ranks(const Section& root);

/// [run], [cluster], [library], [transport], [bind]: there is always exactly one.
[[nodiscard]] const Section& only(const Section& root, std::string_view table);

/// Appends a mistake at the value of `key`.
void report(const Section& section, std::string_view key, std::string message, Diagnostics& mistakes);

/// Names of sections must differ: "[[job]] 'a' is given twice".
void check_names_differ(const Section& root, std::string_view table, Diagnostics& mistakes);

}  // namespace gradstorm::profiles
