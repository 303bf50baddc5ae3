// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gradstorm::store {

/// One process of one boot of this host: process ids are reused, all three together are not.
struct ProcessIdentity {
    std::int64_t pid = 0;
    std::int64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
    std::string boot_id;           ///< /proc/sys/kernel/random/boot_id

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

[[nodiscard]] ProcessIdentity this_process();
[[nodiscard]] bool is_alive(const ProcessIdentity& process);

}  // namespace gradstorm::store
