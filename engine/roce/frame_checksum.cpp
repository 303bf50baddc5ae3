// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/frame_checksum.h"

#include "engine/wire/icrc.h"

#include <cstring>

namespace gradstorm::roce {

FrameChecksum::FrameChecksum(PayloadMode mode, std::uint64_t seed) : mode_(mode), payload_(synthetic_payload(seed)) {
    if (mode_ == PayloadMode::memory) return;
    states_.resize(payload_.size() + 1);
    std::uint32_t state = 0;
    for (std::size_t length = 0; length < states_.size(); ++length) {
        states_[length] = wire::crc32_shift(state, wire::pad_count(length));
        if (length < payload_.size()) state = wire::crc32_update(state, std::span{payload_}.subspan(length, 1));
    }
}

const HeaderDeltas& FrameChecksum::prepare(std::size_t payload_length) {
    auto& deltas = deltas_[payload_length / 256];
    if (!deltas) deltas = std::make_unique<HeaderDeltas>(payload_length);
    return *deltas;
}

std::uint32_t FrameChecksum::synthetic_icrc(std::span<const std::byte> headers, std::size_t payload_length) const {
    return wire::icrc_from_parts(headers, states_[payload_length], payload_length + wire::pad_count(payload_length));
}

std::uint32_t FrameChecksum::template_icrc(std::span<const std::byte> headers, std::size_t payload_length) const {
    return mode_ == PayloadMode::memory ? wire::icrc_from_parts(headers, 0, payload_length)
                                        : synthetic_icrc(headers, payload_length);
}

void FrameChecksum::begin(wire::Frame& frame, const wire::FrameHeaders& headers, std::size_t payload_length) const {
    const wire::Frame encoded = wire::encode(headers, payload_length, frame.buffer);
    frame.offset = encoded.offset;
    frame.length = encoded.length;
}

void FrameChecksum::seal(const wire::Frame& frame, std::size_t header_size, std::size_t payload_length) const {
    std::byte* payload = frame.data() + header_size;
    const std::size_t pad = wire::pad_count(payload_length);
    std::memset(payload + payload_length, 0, pad);
    std::byte* end = payload + payload_length + pad;
    const std::span<const std::byte> headers{frame.data(), header_size};
    wire::put_icrc(
        end, mode_ == PayloadMode::memory ? wire::icrc({frame.data(), end}) : synthetic_icrc(headers, payload_length));
}

bool FrameChecksum::verify(const std::byte* frame, std::size_t length, std::size_t header_size,
                           std::size_t payload_length) const {
    if (mode_ == PayloadMode::memory) return wire::verify_icrc({frame, length});
    return wire::get_icrc(frame + length - wire::kIcrcSize) == synthetic_icrc({frame, header_size}, payload_length);
}

}  // namespace gradstorm::roce
