// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/header_template.h"

#include <array>

namespace gradstorm::roce {
void HeaderTemplate::make(Shape shape, wire::FrameHeaders headers, std::uint32_t path_mtu,
                          const FrameChecksum& checksum) {
    headers.bth.opcode = opcode_of(shape);
    headers.bth.psn = 0;
    headers.bth.ack_request = false;
    headers.reth = {};
    headers.aeth = {};
    headers.immediate = 0;
    // wire::encode() grows the header from the anchor, so a short scratch buffer is enough.
    alignas(64) std::array<std::byte, kStart + kSize> scratch{};
    const std::size_t payload_length = is_full(shape) ? path_mtu : 0;
    const wire::Frame frame = wire::encode(headers, payload_length, scratch.data());
    std::memcpy(lines.data(), scratch.data() + kStart, kSize);
    std::memcpy(lines.data() + (wire::kPayloadAnchor - kStart), checksum.constant_payload().data(),
                kStart + kSize - wire::kPayloadAnchor);
    offset = frame.offset;
    frame_length = frame.length;
    set_message(shape, 0, 0, checksum);
}

void HeaderTemplate::set_message(Shape shape, std::uint32_t key, std::uint32_t message_length,
                                 const FrameChecksum& checksum) {
    remote_key = key;
    length = message_length;
    if (wire::has_reth(opcode_of(shape))) {
        const std::size_t tail = wire::has_immediate(opcode_of(shape)) ? wire::kImmediateSize : 0;
        std::byte* reth_end = lines.data() + (wire::kPayloadAnchor - kStart - tail);
        wire::store_big<std::uint32_t>(reth_end - 8, key);
        wire::store_big<std::uint32_t>(reth_end - 4, message_length);
    }
    const std::size_t header_size = wire::kPayloadAnchor - std::size_t{offset};
    icrc = checksum.template_icrc({lines.data() + (offset - kStart), header_size},
                                  frame_length - header_size - wire::kIcrcSize);
}

}  // namespace gradstorm::roce
