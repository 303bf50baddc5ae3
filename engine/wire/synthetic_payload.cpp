// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/synthetic_payload.h"

#include "base/splitmix64.h"
#include "engine/wire/byte_order.h"

namespace gradstorm::wire {

SyntheticPayload synthetic_payload(std::uint64_t seed) {
    SyntheticPayload payload{};
    SplitMix64 draw(seed);
    for (std::size_t at = 0; at < payload.size(); at += sizeof(std::uint64_t)) {
        store_little<std::uint64_t>(payload.data() + at, draw());
    }
    return payload;
}

}  // namespace gradstorm::wire
