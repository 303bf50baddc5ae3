// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frame_codec.h"

#include "engine/wire/byte_order.h"
#include "engine/wire/icrc.h"

#include <algorithm>
#include <cstring>

namespace gradstorm::wire {
namespace {

/// Smallest Ethernet frame without FCS; what is shorter is padded on its way.
constexpr std::size_t kMinimumFrame = 60;

/// Hands out the bytes of a packet front to back.
template <class Byte>
class Cursor {
public:
    explicit Cursor(std::span<Byte> bytes) : bytes_(bytes) {}
    [[nodiscard]] std::size_t left() const { return bytes_.size(); }
    [[nodiscard]] std::span<Byte> rest() const { return bytes_; }
    std::span<Byte> take(std::size_t size) {
        const auto taken = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return taken;
    }
    template <std::size_t Size>
    std::span<Byte, Size> take() {
        return take(Size).template first<Size>();
    }

private:
    std::span<Byte> bytes_;
};
using Reader = Cursor<const std::byte>;
using Writer = Cursor<std::byte>;
using Fault = tl::unexpected<FrameFault>;

/// Reads the Ethernet header and returns the EtherType behind the tag, or nothing when the frame is too short.
std::optional<std::uint16_t> read_ethernet(Reader& in, EthernetHeader& header) {
    if (in.left() < kEthernetSize) return std::nullopt;
    const auto bytes = in.take<kEthernetSize>();
    std::memcpy(header.destination.octets.data(), &bytes[0], 6);
    std::memcpy(header.source.octets.data(), &bytes[6], 6);
    const auto type = load_big<std::uint16_t>(&bytes[12]);
    if (type != kEtherTypeVlan) return type;
    if (in.left() < kVlanTagSize) return std::nullopt;
    const auto tag = in.take<kVlanTagSize>();
    const auto control = load_big<std::uint16_t>(&tag[0]);
    header.vlan = VlanTag{.id = static_cast<std::uint16_t>(control & 0xFFFU),
                          .priority = static_cast<std::uint8_t>(control >> 13U),
                          .drop_eligible = (control & 0x1000U) != 0};
    return load_big<std::uint16_t>(&tag[2]);
}

std::optional<FrameFault> read_ipv4(Reader& in, DecodedFrame& out) {
    constexpr std::uint16_t kMoreFragmentsAndOffset = 0x3FFF;
    if (in.left() < kIpv4Size) return FrameFault::truncated;
    const auto bytes = in.take<kIpv4Size>();
    const auto version = std::to_integer<std::uint32_t>(bytes[0]);
    if (version >> 4U != 4) return FrameFault::other_traffic;
    if (std::to_integer<std::uint8_t>(bytes[9]) != kIpProtocolUdp) return FrameFault::other_traffic;
    if ((version & 0xFU) != kIpv4Size / 4) return FrameFault::ip_options;
    if ((load_big<std::uint16_t>(&bytes[6]) & kMoreFragmentsAndOffset) != 0) return FrameFault::fragment;
    out.headers.ip = decode_ipv4(bytes);
    out.ip_checksum_right = load_big<std::uint16_t>(&bytes[10]) == ipv4_checksum(bytes);
    return std::nullopt;
}

std::optional<FrameFault> read_ipv6(Reader& in, DecodedFrame& out) {
    if (in.left() < kIpv6Size) return FrameFault::truncated;
    const auto bytes = in.take<kIpv6Size>();
    if (std::to_integer<std::uint32_t>(bytes[0]) >> 4U != 6) return FrameFault::other_traffic;
    // An extension header is other traffic too: RoCEv2 does not use them.
    if (std::to_integer<std::uint8_t>(bytes[6]) != kIpProtocolUdp) return FrameFault::other_traffic;
    if (load_big<std::uint16_t>(&bytes[4]) > 0xFFFF - kIpv6Size) return FrameFault::length_mismatch;
    out.headers.ip = decode_ipv6(bytes);
    return std::nullopt;
}

/// Reads the UDP header and cuts `in` down to what the UDP length says, which all other lengths must agree with.
std::optional<FrameFault> read_udp(Reader& in, std::size_t frame_size, DecodedFrame& out) {
    if (in.left() < kUdpSize) return FrameFault::truncated;
    const std::size_t headers_before = frame_size - in.left();
    const std::size_t ip_start = headers_before - out.headers.ip.size();
    const auto udp = decode_udp(in.take<kUdpSize>());
    if (udp.destination_port != kRoceUdpPort) return FrameFault::other_traffic;
    out.headers.udp = udp;
    const std::size_t packet = out.headers.ip.packet_length;
    if (packet != out.headers.ip.size() + udp.length || udp.length < kUdpSize) return FrameFault::length_mismatch;
    out.length = ip_start + packet;
    if (out.length > frame_size) return FrameFault::truncated;
    const std::size_t minimum = kMinimumFrame + (out.headers.ethernet.vlan ? kVlanTagSize : 0);
    if (out.length < frame_size && frame_size > minimum) return FrameFault::length_mismatch;
    in = Reader{in.rest().first(udp.length - kUdpSize)};
    return std::nullopt;
}

std::optional<FrameFault> read_transport(Reader& in, DecodedFrame& out) {
    if (in.left() < kBthSize + kIcrcSize) return FrameFault::truncated;
    FrameHeaders& headers = out.headers;
    const auto bytes = in.take<kBthSize>();
    if (!is_known_opcode(std::to_integer<std::uint8_t>(bytes[0]))) return FrameFault::unknown_opcode;
    headers.bth = decode_bth(bytes);
    if (headers.bth.header_version != 0) return FrameFault::header_version;
    const Opcode opcode = headers.bth.opcode;
    if (in.left() < extended_header_size(opcode) + kIcrcSize) return FrameFault::truncated;
    if (has_reth(opcode)) headers.reth = decode_reth(in.take<kRethSize>());
    if (has_aeth(opcode)) headers.aeth = decode_aeth(in.take<kAethSize>());
    if (has_immediate(opcode)) headers.immediate = decode_immediate(in.take<kImmediateSize>());
    if (opcode == Opcode::congestion_notification) in.take(kCnpReservedSize);
    return std::nullopt;
}

std::optional<FrameFault> read_payload(Reader& in, DecodedFrame& out) {
    const Bth& bth = out.headers.bth;
    const std::size_t padded = in.left() - kIcrcSize;
    if (bth.pad_count > padded || padded % 4 != 0) return FrameFault::payload_mismatch;
    const std::size_t length = padded - bth.pad_count;
    if (length > kMaxPathMtu || (padded != 0 && !has_payload(bth.opcode))) return FrameFault::payload_mismatch;
    out.payload = in.take(padded).first(length);
    out.icrc = get_icrc(in.take<kIcrcSize>().data());
    return std::nullopt;
}

}  // namespace

Frame encode(const FrameHeaders& headers, std::size_t payload_length, std::byte* buffer) {
    const Opcode opcode = headers.bth.opcode;
    const bool v4 = headers.ip.is_v4();
    const std::size_t header = header_size(opcode, v4, headers.ethernet.vlan.has_value());
    const std::uint8_t pad = pad_count(payload_length);
    const std::size_t length = header + payload_length + pad + kIcrcSize;

    IpHeader ip = headers.ip;
    ip.packet_length = static_cast<std::uint16_t>(length - headers.ethernet.size());
    UdpHeader udp = headers.udp;
    udp.length = static_cast<std::uint16_t>(ip.packet_length - ip.size());
    Bth bth = headers.bth;
    bth.pad_count = pad;

    Writer out{{buffer + kPayloadAnchor - header, header}};
    encode(headers.ethernet, v4 ? kEtherTypeIpv4 : kEtherTypeIpv6, out.take(headers.ethernet.size()));
    encode(ip, out.take(ip.size()));
    encode(udp, out.take<kUdpSize>());
    encode(bth, out.take<kBthSize>());
    if (has_reth(opcode)) encode(headers.reth, out.take<kRethSize>());
    if (has_aeth(opcode)) encode(headers.aeth, out.take<kAethSize>());
    if (has_immediate(opcode)) encode_immediate(headers.immediate, out.take<kImmediateSize>());
    std::ranges::fill(out.rest(), std::byte{0});  // the reserved bytes of a CNP
    return {.buffer = buffer,
            .offset = static_cast<std::uint16_t>(kPayloadAnchor - header),
            .length = static_cast<std::uint16_t>(length),
            .headers = static_cast<std::uint16_t>(header)};
}

void seal(const Frame& frame) {
    const std::span<std::byte> bytes{frame.data(), frame.length};
    const bool vlan = load_big<std::uint16_t>(&bytes[12]) == kEtherTypeVlan;
    const std::size_t ip = kEthernetSize + (vlan ? kVlanTagSize : 0);
    const bool v4 = load_big<std::uint16_t>(&bytes[ip - 2]) == kEtherTypeIpv4;
    const std::size_t bth = ip + (v4 ? kIpv4Size : kIpv6Size) + kUdpSize;
    const std::size_t pad = std::to_integer<std::uint8_t>(bytes[bth + 1]) >> 4U & 3U;
    std::ranges::fill(bytes.last(kIcrcSize + pad).first(pad), std::byte{0});
    store_icrc(bytes);
}

tl::expected<DecodedFrame, FrameFault> decode(std::span<const std::byte> frame) {
    DecodedFrame out;
    Reader in{frame};
    const auto type = read_ethernet(in, out.headers.ethernet);
    if (!type) return Fault{FrameFault::truncated};
    if (type != kEtherTypeIpv4 && type != kEtherTypeIpv6) return Fault{FrameFault::other_traffic};
    auto fault = type == kEtherTypeIpv4 ? read_ipv4(in, out) : read_ipv6(in, out);
    if (!fault) fault = read_udp(in, frame.size(), out);
    if (!fault) fault = read_transport(in, out);
    if (!fault) fault = read_payload(in, out);
    if (fault) return Fault{*fault};
    return out;
}

std::string_view to_string(FrameFault fault) {
    switch (fault) {
        case FrameFault::truncated: return "ends inside a header";
        case FrameFault::other_traffic: return "is not RoCEv2";
        case FrameFault::fragment: return "is a fragment of an IPv4 packet";
        case FrameFault::ip_options: return "has IPv4 options";
        case FrameFault::length_mismatch: return "has contradicting lengths of frame, IP and UDP";
        case FrameFault::unknown_opcode: return "has an opcode of no known service";
        case FrameFault::header_version: return "has a transport header version other than 0";
        case FrameFault::payload_mismatch: return "has a payload that its opcode or pad count does not allow";
    }
    return "is malformed";
}

}  // namespace gradstorm::wire
