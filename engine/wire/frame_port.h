// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/wire/frame.h"

#include <concepts>
#include <cstddef>
#include <span>

namespace gradstorm::wire {

/// Where frames leave and arrive: an Ethernet port of DPDK, a place in the embedded fabric, a heap queue in virtual
/// time. A port belongs to one worker; none of its calls blocks, throws, allocates memory or logs.
///
/// - allocate(out): fills a prefix of `out` with free buffers and returns its length. offset is kPayloadAnchor, length
///   0. In a pool made for synthetic payload the bytes behind the anchor already hold the run's constant payload,
///   unless the port's frames are gathered (gathered_frame.h).
/// - send(frames): takes a prefix and returns its length; the rest stays the caller's. A frame taken is never lost
///   inside the port unless a fault was injected.
/// - receive(out): fills a prefix of `out` with frames that arrived; they belong to the caller until freed or sent.
/// - free(frames): gives buffers back, wherever they came from.
/// - room(): how many frames send() takes now at least, towards whatever destination.
/// - advance(now): moves time inside the port (injected delays and rates); returns its next deadline, or kNoDeadline.
///
/// Where cache lines come from afar, allocate() and receive() have prefetched those that the caller will write or read
/// first (prefetch.h).
template <class P>
concept FramePort = requires(P port, std::span<Frame> out, std::span<const Frame> frames, Instant now) {
    { port.allocate(out) } -> std::same_as<std::size_t>;
    { port.send(frames) } -> std::same_as<std::size_t>;
    { port.receive(out) } -> std::same_as<std::size_t>;
    { port.free(frames) } -> std::same_as<void>;
    { port.room() } -> std::same_as<std::size_t>;
    { port.advance(now) } -> std::same_as<Instant>;
};

/// A port that knows when its frames have been taken by their receiver, because both are in one process. A software HCA
/// does not take silence for loss before that.
/// - mark_deliveries(): remembers what has been sent so far.
/// - deliveries_passed(): whether the receivers have taken all of it.
template <class P>
concept MarksDeliveries = FramePort<P> && requires(P port) {
    { port.mark_deliveries() } -> std::same_as<void>;
    { port.deliveries_passed() } -> std::same_as<bool>;
};

}  // namespace gradstorm::wire
