// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/address.h"
#include "engine/wire/frame.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gradstorm::fabric {

/// Which port of a fabric a frame leaves by: the first 48 bits of the frame, its destination MAC, look up a port
/// number. Several addresses may lie behind one port.
///
/// Open addressing in a power-of-two table at most half full, one 8-byte entry a slot, so that a look-up is as a rule
/// one cache line. Filled before the run; look-ups are const and may come from any number of threads.
class ForwardingTable {
public:
    using Port = std::uint16_t;
    static constexpr Port kNoPort = 0xFFFF;

    /// Frames for `mac` leave by `port` (below kNoPort). An address that is already there moves.
    void insert(const wire::MacAddress& mac, Port port);

    [[nodiscard]] Port find(const wire::MacAddress& mac) const { return find(key_of(mac.octets.data())); }

    /// Port of a frame, by its destination MAC; kNoPort when nobody has it. The frame must have an Ethernet header.
    [[nodiscard]] Port find(const wire::Frame& frame) const { return find(key_of(frame.data())); }

    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 48) - 1;
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    static std::uint64_t key_of(const void* octets) {
        std::uint32_t head;
        std::uint16_t tail;
        std::memcpy(&head, octets, sizeof head);
        std::memcpy(&tail, static_cast<const char*>(octets) + sizeof head, sizeof tail);
        return head | std::uint64_t{tail} << 32;
    }

    [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
        return (key * 0x9E37'79B9'7F4A'7C15u) >> shift_;  // Fibonacci hashing: Knuth, volume 3, section 6.4
    }

    [[nodiscard]] Port find(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t slot = slot_of(key);; slot = (slot + 1) & mask) {
            const std::uint64_t entry = slots_[slot];
            if (entry == kEmpty) return kNoPort;
            if ((entry & kKeyMask) == key) return static_cast<Port>(entry >> 48);
        }
    }

    void place(std::uint64_t key, Port port);
    void grow();

    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(16, kEmpty);  // port << 48 | MAC, or kEmpty
    unsigned shift_ = 64 - 4;
    std::size_t size_ = 0;
};

}  // namespace gradstorm::fabric
