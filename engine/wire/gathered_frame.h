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
///
/// The length is that of the frame on the wire, and `headers` tells where the ICRC lies. Who builds the frame places
/// it so that what changes from one to the next is, over IPv4, in one cache line, the second of the buffer that headers
/// may lie in. All frames of a port are gathered, or none.

/// Bytes of a gathered frame in its buffer, from `data()` on.
[[nodiscard]] constexpr std::size_t gathered_size(const Frame& frame) { return std::size_t{frame.headers} + kIcrcSize; }

/// The first out.size() bytes of a gathered frame, at most its length, as they are on the wire; returns how many.
/// `payload`: what the port's frames share.
std::size_t gather(const Frame& frame, std::span<const std::byte> payload, std::span<std::byte> out);

}  // namespace gradstorm::wire
