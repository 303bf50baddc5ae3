// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "engine/wire/frame_codec.h"

#include <cstddef>
#include <cstdint>

namespace gradstorm::wire {

/// What RoCEv2 costs on an Ethernet link. Three sizes of a frame are kept apart, as in the counters of switches:
///  - frame: as in the packet buffer, Ethernet header to ICRC;
///  - L2: frame and FCS;
///  - line: L2, preamble (8) and the minimum gap between frames (12). The line rate divided by it is the frame rate.
inline constexpr std::size_t kFcsSize = 4;
inline constexpr std::size_t kPreambleAndGapSize = 20;

[[nodiscard]] constexpr std::size_t l2_bytes(std::size_t frame_length) { return frame_length + kFcsSize; }
[[nodiscard]] constexpr std::size_t line_bytes(std::size_t frame_length) {
    return l2_bytes(frame_length) + kPreambleAndGapSize;
}

/// Which headers stand below UDP.
struct FrameShape {
    bool ipv4 = true;  ///< else IPv6
    bool vlan = false;
};

/// Length in the buffer of a frame with this opcode and payload, pad and ICRC included.
[[nodiscard]] constexpr std::size_t frame_length(Opcode opcode, std::size_t payload, FrameShape shape = {}) {
    return header_size(opcode, shape.ipv4, shape.vlan) + payload + pad_count(payload) + kIcrcSize;
}

/// A message of a reliable connection, as its payload travels. (read_response: the data that answers a READ.)
enum class MessageKind : std::uint8_t { write, write_with_immediate, send, send_with_immediate, read_response };

/// The opcode of one packet of a message.
[[nodiscard]] constexpr Opcode packet_opcode(MessageKind kind, bool first, bool last) {
    using enum Opcode;
    switch (kind) {
        case MessageKind::write:
            if (first) return last ? write_only : write_first;
            return last ? write_last : write_middle;
        case MessageKind::write_with_immediate:
            if (first) return last ? write_only_immediate : write_first;
            return last ? write_last_immediate : write_middle;
        case MessageKind::send:
            if (first) return last ? send_only : send_first;
            return last ? send_last : send_middle;
        case MessageKind::send_with_immediate:
            if (first) return last ? send_only_immediate : send_first;
            return last ? send_last_immediate : send_middle;
        case MessageKind::read_response: break;
    }
    if (first) return last ? read_response_only : read_response_first;
    return last ? read_response_last : read_response_middle;
}

/// Packets of a message; one of no bytes is one packet.
[[nodiscard]] constexpr std::uint64_t packet_count(std::uint64_t message_length, std::uint32_t path_mtu) {
    return message_length == 0 ? 1 : (message_length - 1) / path_mtu + 1;
}

/// What a message, or many, takes on the network when nothing is lost. ACKs are not in it.
struct Footprint {
    std::uint64_t packets = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t l2_bytes = 0;
    std::uint64_t line_bytes = 0;

    constexpr Footprint& operator+=(const Footprint& other) {
        packets += other.packets;
        payload_bytes += other.payload_bytes;
        l2_bytes += other.l2_bytes;
        line_bytes += other.line_bytes;
        return *this;
    }
    friend constexpr bool operator==(const Footprint&, const Footprint&) = default;

    /// Payload by line bytes; 0 for an empty message.
    [[nodiscard]] constexpr double efficiency() const {
        return line_bytes == 0 ? 0 : static_cast<double>(payload_bytes) / static_cast<double>(line_bytes);
    }
};

/// The footprint of one message, in constant time. `path_mtu` is one of 256, 512, 1024, 2048, 4096.
[[nodiscard]] constexpr Footprint message_footprint(MessageKind kind, std::uint64_t message_length,
                                                    std::uint32_t path_mtu, FrameShape shape = {}) {
    const std::uint64_t packets = packet_count(message_length, path_mtu);
    const std::uint64_t last_payload = message_length - (packets - 1) * path_mtu;
    std::uint64_t frames = 0;
    if (packets == 1) {
        frames = frame_length(packet_opcode(kind, true, true), last_payload, shape);
    } else {
        frames = frame_length(packet_opcode(kind, true, false), path_mtu, shape) +
                 (packets - 2) * frame_length(packet_opcode(kind, false, false), path_mtu, shape) +
                 frame_length(packet_opcode(kind, false, true), last_payload, shape);
    }
    return {.packets = packets,
            .payload_bytes = message_length,
            .l2_bytes = frames + packets * kFcsSize,
            .line_bytes = frames + packets * (kFcsSize + kPreambleAndGapSize)};
}

/// Line bytes of the control frames.
[[nodiscard]] constexpr std::size_t ack_line_bytes(FrameShape shape = {}) {
    return line_bytes(frame_length(Opcode::acknowledge, 0, shape));
}
[[nodiscard]] constexpr std::size_t cnp_line_bytes(FrameShape shape = {}) {
    return line_bytes(frame_length(Opcode::congestion_notification, 0, shape));
}

/// The ceiling of goodput as a fraction of the line rate (eta): full MIDDLE frames back to back. No measurement on a
/// wire can be above it.
[[nodiscard]] constexpr double goodput_fraction(std::uint32_t path_mtu, FrameShape shape = {}) {
    return static_cast<double>(path_mtu) /
           static_cast<double>(line_bytes(frame_length(Opcode::write_middle, path_mtu, shape)));
}

/// The same on InfiniBand within a subnet: LRH 8, BTH 12, ICRC 4, VCRC 2, no gap.
[[nodiscard]] constexpr double infiniband_goodput_fraction(std::uint32_t path_mtu) {
    return static_cast<double>(path_mtu) / static_cast<double>(path_mtu + 8 + kBthSize + kIcrcSize + 2);
}

[[nodiscard]] constexpr double frames_per_second(BitsPerSecond rate, std::size_t line_bytes_of_frame) {
    return rate.value / (8.0 * static_cast<double>(line_bytes_of_frame));
}

/// The longest time that one PFC frame can stop a priority: 65,535 quanta of 512 bit times (IEEE 802.1Q, clause 36).
[[nodiscard]] constexpr double longest_pause_seconds(BitsPerSecond rate) { return 65'535.0 * 512.0 / rate.value; }

}  // namespace gradstorm::wire
