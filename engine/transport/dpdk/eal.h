// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradstorm::transport::dpdk {

struct EalOptions {
    std::size_t memory_mb = 256;     ///< for packet buffers, rings and devices; fixed at the start
    std::vector<std::string> pci{};  ///< addresses ("0000:3b:00.0") of devices that DPDK takes over; as a rule none
};

/// Starts DPDK's environment: without huge pages, files, telemetry, privileges, or threads of its own for packets.
/// DPDK can be started once in a process; a second call succeeds if the first start covers it. The caller's CPU
/// affinity is as before, DPDK's log goes nowhere but into our errors, and no file stays behind.
///
/// Errors: invalid_input (no memory asked for, a bad address), device (too little memory, DPDK refuses). From the
/// control thread.
[[nodiscard]] Result<void> start_eal(const EalOptions& options);

[[nodiscard]] bool eal_started();

/// Makes the calling thread known to DPDK until the thread's end, so that its packet buffers come from and go back to a
/// store of its own instead of one that threads share. Without a place for it (DPDK knows 128 threads) it is slower and
/// nothing else. Cheap when repeated; not on the data path.
void register_worker_thread();

/// Version of the library the process runs with, e.g. "DPDK 22.11.11".
[[nodiscard]] std::string dpdk_version();

/// Collects what DPDK logs while it lives, so that a failed call can say why. One at a time, control thread.
class EalLog {
public:
    EalLog();
    EalLog(const EalLog&) = delete;
    EalLog& operator=(const EalLog&) = delete;
    ~EalLog() = default;

    /// The first line that was logged, without DPDK's prefix, as a reason: ": no such device"; empty when there is
    /// none.
    [[nodiscard]] std::string reason() const;
};

/// The part of a log text that an error should quote: its first line, prefix, full stop and control characters removed.
[[nodiscard]] std::string first_reason(std::string_view log);

}  // namespace gradstorm::transport::dpdk
