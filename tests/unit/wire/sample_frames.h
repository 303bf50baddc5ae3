// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame_codec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace gradstorm::wire::test {

inline constexpr std::array kOpcodes{Opcode::send_first,
                                     Opcode::send_middle,
                                     Opcode::send_last,
                                     Opcode::send_last_immediate,
                                     Opcode::send_only,
                                     Opcode::send_only_immediate,
                                     Opcode::write_first,
                                     Opcode::write_middle,
                                     Opcode::write_last,
                                     Opcode::write_last_immediate,
                                     Opcode::write_only,
                                     Opcode::write_only_immediate,
                                     Opcode::read_request,
                                     Opcode::read_response_first,
                                     Opcode::read_response_middle,
                                     Opcode::read_response_last,
                                     Opcode::read_response_only,
                                     Opcode::acknowledge,
                                     Opcode::congestion_notification};

/// A packet buffer of a frame, aligned as the pools align theirs.
struct alignas(64) PacketBuffer {
    std::array<std::byte, kFrameBufferSize> bytes{};
};

template <class T>
T random_value(std::mt19937_64& random, std::uint64_t most) {
    return static_cast<T>(std::uniform_int_distribution<std::uint64_t>{0, most}(random));
}

/// Headers with every field at random, those that the opcode has not left at their defaults.
inline FrameHeaders random_headers(std::mt19937_64& random, Opcode opcode, bool ipv4, bool vlan) {
    FrameHeaders h;
    for (auto* mac : {&h.ethernet.destination, &h.ethernet.source}) {
        for (auto& octet : mac->octets) octet = random_value<std::uint8_t>(random, 0xFF);
    }
    if (vlan) {
        h.ethernet.vlan = VlanTag{.id = random_value<std::uint16_t>(random, 0xFFF),
                                  .priority = random_value<std::uint8_t>(random, 7),
                                  .drop_eligible = random() % 2 == 1};
    }
    for (auto* ip : {&h.ip.source, &h.ip.destination}) {
        for (auto& octet : ip->octets) octet = random_value<std::uint8_t>(random, 0xFF);
        ip->octets[0] = 0xFD;
        if (ipv4) {
            std::fill_n(ip->octets.begin(), 10, std::uint8_t{0});
            ip->octets[10] = ip->octets[11] = 0xFF;
        }
    }
    h.ip.dscp = random_value<std::uint8_t>(random, 63);
    h.ip.ecn = static_cast<Ecn>(random_value<std::uint8_t>(random, 3));
    h.ip.hop_limit = random_value<std::uint8_t>(random, 255);
    if (!ipv4) h.ip.flow_label = random_value<std::uint32_t>(random, 0xF'FFFF);
    h.udp.source_port = random_value<std::uint16_t>(random, 0xFFFF);
    h.bth = {.opcode = opcode,
             .solicited_event = random() % 2 == 1,
             .migration_request = random() % 2 == 1,
             .partition_key = random_value<std::uint16_t>(random, 0xFFFF),
             .fecn = random() % 2 == 1,
             .becn = random() % 2 == 1,
             .destination_qpn = random_value<std::uint32_t>(random, k24BitMask),
             .ack_request = random() % 2 == 1,
             .psn = random_value<std::uint32_t>(random, k24BitMask)};
    if (has_reth(opcode)) {
        h.reth = {.virtual_address = random(),
                  .remote_key = random_value<std::uint32_t>(random, 0xFFFF'FFFF),
                  .length = random_value<std::uint32_t>(random, 0xFFFF'FFFF)};
    }
    if (has_aeth(opcode)) {
        h.aeth = {.syndrome = random_value<std::uint8_t>(random, 0x7F),
                  .msn = random_value<std::uint32_t>(random, k24BitMask)};
    }
    if (has_immediate(opcode)) h.immediate = random_value<std::uint32_t>(random, 0xFFFF'FFFF);
    return h;
}

/// A finished frame as bytes: headers, random payload, pad and ICRC.
inline std::vector<std::byte> make_frame(std::mt19937_64& random, const FrameHeaders& headers, std::size_t payload) {
    PacketBuffer buffer;
    for (auto& byte : buffer.bytes) byte = static_cast<std::byte>(random());
    const Frame frame = encode(headers, payload, buffer.bytes.data());
    seal(frame);
    return {frame.data(), frame.data() + frame.length};
}

inline std::span<const std::byte> view(const Frame& frame) { return {frame.data(), frame.length}; }

}  // namespace gradstorm::wire::test
