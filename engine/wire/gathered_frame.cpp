// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/gathered_frame.h"

#include "engine/wire/headers.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gradstorm::wire {
namespace {

/// Pad bytes of a frame whose headers are whole, from its BTH.
std::size_t pad_of(const std::byte* header) {
    std::size_t ip = kEthernetSize;
    const auto type_is = [&](std::uint16_t type) {
        return header[ip - 2] == static_cast<std::byte>(type >> 8U) &&
               header[ip - 1] == static_cast<std::byte>(type & 0xFFU);
    };
    if (type_is(kEtherTypeVlan)) ip += kVlanTagSize;
    const std::size_t bth = ip + (type_is(kEtherTypeIpv6) ? kIpv6Size : kIpv4Size) + kUdpSize;
    return std::to_integer<std::size_t>(header[bth + 1] >> 4U) & 3U;
}

/// Writes piece after piece, as far as there is room.
class Pieces {
public:
    explicit Pieces(std::span<std::byte> out) : out_(out) {}

    void append(std::span<const std::byte> piece) {
        const std::size_t some = std::min(piece.size(), out_.size() - written_);
        std::copy_n(piece.begin(), some, out_.begin() + static_cast<std::ptrdiff_t>(written_));
        written_ += some;
    }
    [[nodiscard]] std::size_t written() const { return written_; }

private:
    std::span<std::byte> out_;
    std::size_t written_ = 0;
};

}  // namespace

std::size_t gather(const Frame& frame, std::span<const std::byte> payload, std::span<std::byte> out) {
    constexpr std::array<std::byte, 3> kPad{};
    const std::size_t kept = gathered_size(frame);
    const std::size_t header = kept - kIcrcSize;
    const std::size_t absent = frame.length > kept ? frame.length - kept : 0;  // payload and pad
    const std::size_t pad = absent > 0 ? std::min(absent, pad_of(frame.data())) : 0;
    Pieces pieces(out);
    pieces.append({frame.data(), header});
    pieces.append(payload.first(std::min(payload.size(), absent - pad)));
    pieces.append(std::span{kPad}.first(pad));
    pieces.append({frame.data() + header, kIcrcSize});
    return pieces.written();
}

}  // namespace gradstorm::wire
