// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/forwarding_table.h"

#include <utility>

namespace gradstorm::fabric {

void ForwardingTable::insert(const wire::MacAddress& mac, Port port) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    place(key_of(mac.octets.data()), port);
}

void ForwardingTable::place(std::uint64_t key, Port port) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = slot_of(key);
    while (slots_[slot] != kEmpty && (slots_[slot] & kKeyMask) != key) slot = (slot + 1) & mask;
    if (slots_[slot] == kEmpty) ++size_;
    slots_[slot] = std::uint64_t{port} << 48 | key;
}

void ForwardingTable::grow() {
    const std::vector<std::uint64_t> old = std::exchange(slots_, std::vector<std::uint64_t>(2 * slots_.size(), kEmpty));
    --shift_;
    size_ = 0;
    for (const std::uint64_t entry : old) {
        if (entry != kEmpty) place(entry & kKeyMask, static_cast<Port>(entry >> 48));
    }
}

}  // namespace gradstorm::fabric
