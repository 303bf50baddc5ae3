// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/impairment.h"

#include "engine/wire/headers.h"

namespace gradstorm::fabric {
namespace {

constexpr std::uint8_t kEcnMask = 0b11;

struct IpLocation {
    std::size_t offset = 0;  ///< of the IP header, from the Ethernet header
    bool v4 = true;
};

std::uint8_t byte_at(const wire::Frame& frame, std::size_t position) {
    return std::to_integer<std::uint8_t>(frame.data()[position]);
}

std::uint16_t word_at(const wire::Frame& frame, std::size_t position) {
    return static_cast<std::uint16_t>(byte_at(frame, position) << 8 | byte_at(frame, position + 1));
}

void put_word(const wire::Frame& frame, std::size_t position, std::uint16_t value) {
    frame.data()[position] = static_cast<std::byte>(value >> 8);
    frame.data()[position + 1] = static_cast<std::byte>(value & 0xFF);
}

std::optional<IpLocation> find_ip(const wire::Frame& frame) {
    if (frame.length < wire::kEthernetSize + wire::kVlanTagSize) return std::nullopt;
    std::size_t offset = wire::kEthernetSize;
    std::uint16_t type = word_at(frame, offset - 2);
    if (type == wire::kEtherTypeVlan) {
        offset += wire::kVlanTagSize;
        type = word_at(frame, offset - 2);
    }
    if (type == wire::kEtherTypeIpv4 && frame.length >= offset + wire::kIpv4Size) return IpLocation{offset, true};
    if (type == wire::kEtherTypeIpv6 && frame.length >= offset + wire::kIpv6Size) return IpLocation{offset, false};
    return std::nullopt;
}

}  // namespace

ImpairmentCounters& ImpairmentCounters::operator+=(const ImpairmentCounters& other) {
    frames += other.frames;
    dropped += other.dropped;
    duplicated += other.duplicated;
    not_duplicated += other.not_duplicated;
    reordered += other.reordered;
    corrupted += other.corrupted;
    marked += other.marked;
    held += other.held;
    return *this;
}

std::optional<wire::Opcode> opcode_of(const wire::Frame& frame) {
    const auto ip = find_ip(frame);
    if (!ip) return std::nullopt;
    const std::size_t protocol = byte_at(frame, ip->offset + (ip->v4 ? 9 : 6));
    const std::size_t udp =
        ip->offset + (ip->v4 ? std::size_t{4} * (byte_at(frame, ip->offset) & 0xFU) : wire::kIpv6Size);
    const std::size_t bth = udp + wire::kUdpSize;
    if (protocol != wire::kIpProtocolUdp || frame.length < bth + wire::kBthSize) return std::nullopt;
    if (word_at(frame, udp + 2) != wire::kRoceUdpPort) return std::nullopt;
    return static_cast<wire::Opcode>(byte_at(frame, bth));
}

std::function<bool(const wire::Frame&)> has_opcode(wire::Opcode opcode) {
    return [opcode](const wire::Frame& frame) { return opcode_of(frame) == opcode; };
}

bool mark_congestion(const wire::Frame& frame) {
    const auto ip = find_ip(frame);
    if (!ip) return false;
    // The ECN bits are the low ones of IPv4's second byte, and of IPv6's traffic class, which straddles bytes 0 and 1.
    const std::uint16_t before = word_at(frame, ip->offset);
    const int shift = ip->v4 ? 0 : 4;
    const int ecn = before >> shift & kEcnMask;
    if (ecn == 0 || ecn == kEcnMask) return false;
    const auto after = static_cast<std::uint16_t>(before | kEcnMask << shift);
    put_word(frame, ip->offset, after);
    if (ip->v4) {
        const std::uint16_t checksum = word_at(frame, ip->offset + 10);
        // RFC 1624, equation 3: HC' = ~(~HC + ~m + m')
        std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
        sum += static_cast<std::uint16_t>(~before);
        sum += after;
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
        put_word(frame, ip->offset + 10, static_cast<std::uint16_t>(~sum));
    }
    return true;
}

void flip_bit(const wire::Frame& frame, std::size_t bit) { frame.data()[bit / 8] ^= std::byte{0x80} >> (bit % 8); }

}  // namespace gradstorm::fabric
