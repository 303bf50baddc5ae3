// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace gradstorm::perf {

/// The anchor of figures about frames: a loop that does the least a program on DPDK's standard ways must do. One core
/// allocates 32 packet buffers, sets their length and sends them to a net_ring port; the other receives and frees them.
/// 4,096 buffers with a cache on each core, ring of 1,024. Frames a second, in millions. Throws std::runtime_error when
/// DPDK (which has to be started) refuses.
[[nodiscard]] double net_ring_mpps(std::chrono::milliseconds window, std::size_t frame_bytes);

}  // namespace gradstorm::perf
