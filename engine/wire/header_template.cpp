// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/header_template.h"

#include <array>

namespace gradstorm::wire {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHeaderLine = HeaderTemplate::kStart + kLine;  // of the two lines, the one written for each frame

/// Where a frame starts in its buffer: its payload at the anchor. A gathered frame has its headers, else all of them
/// but the constant Ethernet header, together with the ICRC in one line.
std::size_t place(const Frame& frame, std::size_t ethernet, bool gathered) {
    const std::size_t kept = frame.headers + std::size_t{kIcrcSize};
    if (gathered && kept <= kLine) return kHeaderLine;
    if (gathered && kept - ethernet <= kLine) return kHeaderLine - ethernet;
    return frame.offset;
}

}  // namespace

void HeaderTemplate::make(TemplateKind kind, FrameHeaders headers, std::uint32_t payload,
                          const FrameChecksum& checksum) {
    headers.bth.opcode = opcode_of(kind);
    headers.bth.psn = 0;
    headers.bth.ack_request = false;
    headers.reth = {};
    headers.aeth = {};
    headers.immediate = 0;
    // encode() grows the header from the anchor, so a short scratch buffer is enough.
    alignas(64) std::array<std::byte, kStart + kSize> scratch{};
    payload_length = static_cast<std::uint16_t>(is_full(kind) ? payload : 0);
    const Frame frame = encode(headers, payload_length, scratch.data());
    offset = static_cast<std::uint16_t>(place(frame, headers.ethernet.size(), checksum.gathered()));
    frame_length = frame.length;
    header_size = frame.headers;
    lines.fill({});
    std::memcpy(lines.data() + (offset - kStart), frame.data(), header_size);
    std::memcpy(lines.data() + (end() - kStart), checksum.constant_payload().data(), kStart + kSize - end());
    set_message(kind, 0, 0, checksum);
}

void HeaderTemplate::set_message(TemplateKind kind, std::uint32_t key, std::uint32_t message_length,
                                 const FrameChecksum& checksum) {
    remote_key = key;
    length = message_length;
    if (has_reth(opcode_of(kind))) {
        const std::size_t tail = has_immediate(opcode_of(kind)) ? kImmediateSize : 0;
        std::byte* reth_end = lines.data() + (end() - kStart - tail);
        store_big<std::uint32_t>(reth_end - 8, key);
        store_big<std::uint32_t>(reth_end - 4, message_length);
    }
    icrc = checksum.template_icrc({lines.data() + (offset - kStart), header_size}, payload_length);
}

}  // namespace gradstorm::wire
