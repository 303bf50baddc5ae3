// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame.h"

#include <cstddef>
#include <span>

namespace gradstorm::wire {

/// A frame whose payload is a prefix of one constant that all frames of a port share, so that a buffer need not hold
/// it, as an adapter gathers a frame from several places in memory:
///
///     buffer:  ... headers | ICRC ...              on the wire:  headers | payload | pad | ICRC
///                          ^ kPayloadAnchor
///
/// Offset and length are those of the frame on the wire. Without extended headers over IPv4, what the buffer holds is
/// one cache line. All frames of a port are gathered, or none.

/// Bytes of a gathered frame in its buffer, from `data()` on.
[[nodiscard]] constexpr std::size_t gathered_size(const Frame& frame) {
    return std::size_t{kPayloadAnchor} - frame.offset + kIcrcSize;
}

/// The first out.size() bytes of a gathered frame, at most its length, as they are on the wire; returns how many.
/// `payload`: what the port's frames share.
std::size_t gather(const Frame& frame, std::span<const std::byte> payload, std::span<std::byte> out);

}  // namespace gradstorm::wire
