// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/crc32.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradstorm::roce {

/// What each header byte in front of a payload of one length adds to the ICRC: a frame whose template has zeros in its
/// changing fields has the template's ICRC XOR the deltas of what was filled in. One table look-up a byte, whatever the
/// size of the payload. The CRC is linear, so a delta also takes a field out again.
class HeaderDeltas {
public:
    explicit HeaderDeltas(std::size_t payload_length) {
        for (std::size_t place = 0; place < tables_.size(); ++place) {
            tables_[place] = wire::ByteDeltaTable(payload_length + place);
        }
    }

    /// A big-endian field of `Size` bytes, the last of which has `Place` header bytes between it and the payload.
    template <std::size_t Place, std::size_t Size>
    [[nodiscard]] std::uint32_t field(std::uint64_t value) const {
        static_assert(Place + Size <= kPlaces && Size <= 8);
        std::uint32_t delta = 0;
        for (std::size_t i = 0; i < Size; ++i) {
            delta ^= tables_[Place + i][static_cast<std::uint8_t>(value >> (8 * i))];
        }
        return delta;
    }

private:
    static constexpr std::size_t kPlaces = 24;  // RETH, immediate, and the last word of the BTH
    std::array<wire::ByteDeltaTable, kPlaces> tables_;
};

}  // namespace gradstorm::roce
