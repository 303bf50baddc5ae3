// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/splitmix64.h"
#include "base/time.h"
#include "engine/fabric/impairment.h"
#include "engine/wire/frame.h"
#include "engine/wire/headers.h"
#include "engine/wire/line_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gradstorm::fabric {

/// Seeded draws of what happens to frames.
class FaultDice {
public:
    explicit FaultDice(std::uint64_t seed) : draw_(seed) {}

    bool happens(double fraction) {
        constexpr double kOneIn2To53 = 1.0 / 9'007'199'254'740'992.0;
        return fraction > 0 && static_cast<double>(draw_() >> 11U) * kOneIn2To53 < fraction;
    }

    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(draw_() % bound); }

private:
    SplitMix64 draw_;
};

/// What is to happen to one frame.
struct Verdict {
    bool drop = false;
    bool duplicate = false;
    bool corrupt = false;
    bool mark = false;
    bool reorder = false;
    Nanoseconds extra_delay{};  ///< on top of the source's own delay
};

/// The dice, the wire and the counters of one source of frames. Its draws depend on its own frames alone, so that other
/// sources behind the same port do not change what happens to it.
class ImpairedSource {
public:
    ImpairedSource(const Impairment& impairment, std::uint64_t seed) : impairment_(impairment), dice_(seed) {}

    [[nodiscard]] Verdict draw() {
        Verdict verdict;
        verdict.drop = dice_.happens(impairment_.drop);
        verdict.duplicate = dice_.happens(impairment_.duplicate);
        verdict.corrupt = dice_.happens(impairment_.corrupt);
        verdict.mark = dice_.happens(impairment_.mark);
        verdict.reorder = dice_.happens(impairment_.reorder);
        return verdict;
    }

    /// When a frame that comes now leaves: behind the source's frames on the slow wire, then delayed.
    [[nodiscard]] Instant departure(Instant now, std::uint16_t length) {
        if (impairment_.rate.value <= 0) return now + impairment_.delay;
        const double start = std::max(wire_free_at_, static_cast<double>(now.time_since_epoch().count()));
        wire_free_at_ = start + static_cast<double>(wire::line_bytes(length)) * 8e9 / impairment_.rate.value;
        return Instant{Nanoseconds{static_cast<std::int64_t>(std::ceil(wire_free_at_))}} + impairment_.delay;
    }

    /// A bit behind the Ethernet header; behind the payload anchor only the ICRC when the payload must stay as it is.
    [[nodiscard]] std::size_t corrupt_bit(const wire::Frame& frame, bool spare_payload) {
        constexpr std::size_t kEthernetBits = wire::kEthernetSize * 8;
        const std::size_t bits = 8 * std::size_t{frame.length};
        const std::size_t headers =
            8 * std::size_t{frame.offset < wire::kPayloadAnchor ? wire::kPayloadAnchor - frame.offset : 0u};
        const std::size_t icrc = 8 * std::size_t{wire::kIcrcSize};
        if (!spare_payload || headers <= kEthernetBits || headers + icrc >= bits) {
            return kEthernetBits + dice_.below(bits - kEthernetBits);
        }
        const std::size_t drawn = kEthernetBits + dice_.below(headers - kEthernetBits + icrc);
        return drawn < headers ? drawn : bits - icrc + (drawn - headers);
    }

    [[nodiscard]] const Impairment& impairment() const { return impairment_; }
    void set(const Impairment& impairment) { impairment_ = impairment; }

    ImpairmentCounters counters;

private:
    Impairment impairment_;
    FaultDice dice_;
    double wire_free_at_ = 0;  // nanoseconds; fractions kept so that the rate holds over long runs
};

}  // namespace gradstorm::fabric
