// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frame: decode() reads nothing outside of them, and what it accepts is what encode() makes again.
#include "engine/wire/frame_codec.h"
#include "engine/wire/icrc.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace wire = gradstorm::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto frame = std::as_bytes(std::span{data, size});
    static_cast<void>(wire::verify_icrc(frame));
    const auto decoded = wire::decode(frame);
    if (!decoded) return to_string(decoded.error()).empty() ? std::abort(), 0 : 0;

    const auto buffer = std::make_unique<std::byte[]>(wire::kFrameBufferSize);
    const auto again = wire::encode(decoded->headers, decoded->payload.size(), buffer.get());
    std::copy(decoded->payload.begin(), decoded->payload.end(), buffer.get() + wire::kPayloadAnchor);
    wire::seal(again);
    const auto second = wire::decode({again.data(), again.length});
    if (!second || second->headers != decoded->headers || second->payload.size() != decoded->payload.size() ||
        !second->ip_checksum_right || !wire::verify_icrc({again.data(), again.length})) {
        std::abort();
    }
    return 0;
}
