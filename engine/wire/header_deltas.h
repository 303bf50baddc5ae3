// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/crc32.h"
#include "engine/wire/headers.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradstorm::wire {

/// What each header byte in front of a payload of one length adds to the ICRC: a frame whose template has zeros in its
/// changing fields has the template's ICRC XOR the deltas of what was filled in. One table look-up a byte, whatever the
/// size of the payload. The CRC is linear, so a delta also takes a field out again, and that of old XOR new changes it.
///
/// Reaches from the last header byte to the UDP source port, whatever extended headers lie between.
class HeaderDeltas {
public:
    /// `payload_length`: with the pad.
    explicit HeaderDeltas(std::size_t payload_length) {
        for (std::size_t place = 0; place < tables_.size(); ++place) {
            tables_[place] = ByteDeltaTable(payload_length + place);
        }
    }

    /// Header bytes between the UDP source port and the payload.
    [[nodiscard]] static constexpr std::size_t source_port_place(std::size_t extended_header_size) {
        constexpr std::size_t kRestOfUdp = 6;  // destination port, length, checksum
        return extended_header_size + kBthSize + kRestOfUdp;
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

    /// The same where place and size are known only at run time. Precondition: place + size <= kPlaces, size <= 8.
    [[nodiscard]] std::uint32_t field(std::size_t place, std::size_t size, std::uint64_t value) const {
        std::uint32_t delta = 0;
        for (std::size_t i = 0; i < size; ++i) {
            delta ^= tables_[place + i][static_cast<std::uint8_t>(value >> (8 * i))];
        }
        return delta;
    }

    static constexpr std::size_t kPlaces = 40;  ///< immediate 4, RETH 16, BTH 12, UDP 8

private:
    std::array<ByteDeltaTable, kPlaces> tables_;
};

}  // namespace gradstorm::wire
