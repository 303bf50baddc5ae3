// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frame_checksum.h"

#include "engine/wire/icrc.h"

#include <array>
#include <cstring>

namespace gradstorm::wire {

namespace {

constexpr std::uint32_t kOne = 0x8000'0000;  // the polynomial 1: CRC registers hold x^0 in their highest bit

/// The product of two polynomials modulo that of the CRC, four bits of `b` a step, highest powers first.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
    static constexpr std::uint32_t kPolynomial = 0xEDB8'8320;
    const auto times_x = [](std::uint32_t value) { return value >> 1U ^ (kPolynomial & (0U - (value & 1U))); };
    std::array<std::uint32_t, 16> multiples{};  // of a, by the four bits
    for (std::uint32_t bit = 8, multiple = a; bit > 0; bit >>= 1U, multiple = times_x(multiple)) {
        for (std::uint32_t i = bit; i < 16; i = (i + 1) | bit) multiples[i] ^= multiple;
    }
    std::uint32_t product = 0;
    for (std::uint32_t step = 0; step < 8; ++step, b >>= 4U) {
        for (std::uint32_t i = 0; i < 4; ++i) product = times_x(product);
        product ^= multiples[b & 0xFU];
    }
    return product;
}

}  // namespace

FrameChecksum::FrameChecksum(PayloadMode mode, std::uint64_t seed, bool gathered)
    : mode_(mode), gathered_(gathered), payload_(synthetic_payload(seed)) {
    if (mode_ == PayloadMode::memory) return;
    std::uint32_t power = kOne;
    for (std::size_t words = 0; words <= payload_.size() / 4; ++words) {
        powers_.push_back(power);
        power = crc32_shift(power, 4);
    }
    states_.resize(payload_.size() + 1);
    std::uint32_t state = 0;
    for (std::size_t length = 0; length < states_.size(); ++length) {
        states_[length] = crc32_shift(state, pad_count(length));
        if (length < payload_.size()) state = crc32_update(state, std::span{payload_}.subspan(length, 1));
    }
}

const HeaderDeltas& FrameChecksum::prepare(std::size_t payload_length) {
    auto& deltas = deltas_[payload_length / 256];
    if (!deltas) deltas = std::make_unique<HeaderDeltas>(payload_length);
    return *deltas;
}

std::uint32_t FrameChecksum::synthetic_icrc(std::span<const std::byte> headers, std::size_t payload_length) const {
    const std::uint32_t header_state = icrc_header_state(headers);
    return ~(multiply(powers_[(payload_length + 3) / 4], header_state) ^ states_[payload_length]);
}

std::uint32_t FrameChecksum::template_icrc(std::span<const std::byte> headers, std::size_t payload_length) const {
    return mode_ == PayloadMode::memory ? icrc_from_parts(headers, 0, payload_length + pad_count(payload_length))
                                        : synthetic_icrc(headers, payload_length);
}

void FrameChecksum::begin(Frame& frame, const FrameHeaders& headers, std::size_t payload_length) const {
    const Frame encoded = encode(headers, payload_length, frame.buffer);
    frame.offset = encoded.offset;
    frame.length = encoded.length;
    frame.headers = encoded.headers;
}

void FrameChecksum::seal(const Frame& frame, std::size_t header_size, std::size_t payload_length) const {
    std::byte* payload = frame.data() + header_size;
    const std::size_t pad = pad_count(payload_length);
    if (!gathered_) std::memset(payload + payload_length, 0, pad);
    std::byte* end = payload + icrc_place(payload_length + pad);
    const std::span<const std::byte> headers{frame.data(), header_size};
    put_icrc(end, mode_ == PayloadMode::memory ? icrc({frame.data(), end}) : synthetic_icrc(headers, payload_length));
}

bool FrameChecksum::verify(const std::byte* frame, std::size_t length, std::size_t header_size,
                           std::size_t payload_length) const {
    if (mode_ == PayloadMode::memory) return verify_icrc({frame, length});
    return get_icrc(frame + length - kIcrcSize) == synthetic_icrc({frame, header_size}, payload_length);
}

}  // namespace gradstorm::wire
