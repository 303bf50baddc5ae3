// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "base/units.h"
#include "engine/wire/frame.h"
#include "engine/wire/opcode.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace gradstorm::fabric {

/// What a network may do to the frames of one source. Fractions are of frames, 0 to 1, each drawn on its own; a frame
/// that is dropped meets nothing else.
struct Impairment {
    double drop = 0;
    double duplicate = 0;              ///< a copy follows the frame
    double reorder = 0;                ///< the frame stays behind by reorder_delay, so that later ones overtake it
    double corrupt = 0;                ///< one bit anywhere behind the Ethernet header flips
    double mark = 0;                   ///< an ECN-capable frame is marked "congestion experienced"
    Nanoseconds reorder_delay{5'000};  ///< at least 1
    Nanoseconds delay{};               ///< of every frame
    BitsPerSecond rate{};              ///< of frame + 24 B overhead, as on the wire; 0: not limited
    friend bool operator==(const Impairment&, const Impairment&) = default;

    [[nodiscard]] bool any() const { return *this != Impairment{.reorder_delay = reorder_delay}; }
};

/// What was done to frames, random and scripted together.
struct ImpairmentCounters {
    std::uint64_t frames = 0;  ///< that came in
    std::uint64_t dropped = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t not_duplicated = 0;  ///< drawn, but there was no buffer or room for the copy
    std::uint64_t reordered = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t marked = 0;
    std::uint64_t held = 0;  ///< sent later than they came: delay, rate or reordering
    ImpairmentCounters& operator+=(const ImpairmentCounters& other);
    friend bool operator==(const ImpairmentCounters&, const ImpairmentCounters&) = default;
};

enum class Fault : std::uint8_t { drop, duplicate, corrupt, mark, delay };

/// "Drop the third ACK": an exact fault for tests. Frames that match are counted from 0; those numbered `first` to
/// `first + count - 1` suffer the fault, whatever is drawn for them besides.
struct ScriptedFault {
    Fault fault = Fault::drop;
    std::function<bool(const wire::Frame&)> matches{};  ///< every frame when empty
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    std::size_t bit = 0;     ///< of corrupt: counted from the start of the Ethernet header, most significant bit first
    Nanoseconds delay{};     ///< of delay
    std::uint64_t seen = 0;  ///< matches so far; of the port that runs the script
};

/// The opcode of a RoCEv2 frame; nothing for other frames. To be used in ScriptedFault::matches.
[[nodiscard]] std::optional<wire::Opcode> opcode_of(const wire::Frame& frame);

/// A predicate for ScriptedFault::matches.
[[nodiscard]] std::function<bool(const wire::Frame&)> has_opcode(wire::Opcode opcode);

/// Sets the ECN bits of an ECN-capable IPv4 or IPv6 frame to "congestion experienced" (RFC 3168) and mends the IPv4
/// checksum (RFC 1624). Returns whether the frame was capable and not marked already.
bool mark_congestion(const wire::Frame& frame);

/// Flips a bit of the frame, counted from the start of the Ethernet header, most significant bit of a byte first.
void flip_bit(const wire::Frame& frame, std::size_t bit);

}  // namespace gradstorm::fabric
