// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/synthetic_payload.h"

#include "engine/wire/byte_order.h"

namespace gradstorm::roce {

SyntheticPayload synthetic_payload(std::uint64_t seed) {
    SyntheticPayload payload{};
    for (std::size_t at = 0; at < payload.size(); at += sizeof(std::uint64_t)) {
        seed += 0x9E37'79B9'7F4A'7C15U;  // splitmix64: Steele, Lea, Flood, OOPSLA 2014
        std::uint64_t value = seed;
        value = (value ^ (value >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
        value = (value ^ (value >> 27U)) * 0x94D0'49BB'1331'11EBU;
        wire::store_little<std::uint64_t>(payload.data() + at, value ^ (value >> 31U));
    }
    return payload;
}

}  // namespace gradstorm::roce
