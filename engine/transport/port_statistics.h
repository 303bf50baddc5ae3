// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace gradstorm::transport {

/// What the port under an endpoint knows of the generator's own part in a run, since the port was made.
struct PortStatistics {
    std::uint64_t send_refusals = 0;          ///< bursts that found no room and went later: back-pressure, no loss
    std::uint64_t lost_frames = 0;            ///< arrived, but port or device could not take them, or failed
    std::optional<double> ring_high_water{};  ///< the fullest that a receive ring was found, 0 to 1; empty: not known
};

}  // namespace gradstorm::transport
