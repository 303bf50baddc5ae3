// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace gradstorm::perf {

/// The anchor of figures about sending: `dpdk-testpmd` in its forwarding mode txonly, which sends constant frames and
/// computes nothing, into net_null; burst 32, one core. Frames a second, in millions, in the second second after its
/// start. Throws std::runtime_error when testpmd is not there or prints no rate.
[[nodiscard]] double testpmd_txonly_mpps(std::size_t frame_bytes);

}  // namespace gradstorm::perf
