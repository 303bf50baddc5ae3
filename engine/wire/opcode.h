// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gradstorm::wire {

/// The opcode of a base transport header: reliable connection (service type 0), and RoCE's congestion notification
/// packet. Source: InfiniBand Architecture Specification 1.4, volume 1, table 38; annex A17 for the CNP.
enum class Opcode : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_immediate = 0x03,
    send_only = 0x04,
    send_only_immediate = 0x05,
    write_first = 0x06,
    write_middle = 0x07,
    write_last = 0x08,
    write_last_immediate = 0x09,
    write_only = 0x0A,
    write_only_immediate = 0x0B,
    read_request = 0x0C,
    read_response_first = 0x0D,
    read_response_middle = 0x0E,
    read_response_last = 0x0F,
    read_response_only = 0x10,
    acknowledge = 0x11,
    congestion_notification = 0x81,
};

namespace detail {
// One bit an opcode: the predicates below are a shift and a mask, without a branch for each case.
[[nodiscard]] constexpr std::uint32_t opcode_bit(Opcode opcode) {
    const auto code = static_cast<std::uint8_t>(opcode);
    return code < 32 ? std::uint32_t{1} << code : 0;
}
template <class... Opcodes>
[[nodiscard]] constexpr bool is_one_of(Opcode opcode, Opcodes... set) {
    return (opcode_bit(opcode) & (opcode_bit(set) | ...)) != 0;
}
}  // namespace detail

/// Whether the code is one that this engine sends and understands.
[[nodiscard]] constexpr bool is_known_opcode(std::uint8_t code) {
    return code <= static_cast<std::uint8_t>(Opcode::acknowledge) ||
           code == static_cast<std::uint8_t>(Opcode::congestion_notification);
}

[[nodiscard]] constexpr bool is_send(Opcode o) { return o <= Opcode::send_only_immediate; }
[[nodiscard]] constexpr bool is_write(Opcode o) {
    return o >= Opcode::write_first && o <= Opcode::write_only_immediate;
}
[[nodiscard]] constexpr bool is_read_response(Opcode o) {
    return o >= Opcode::read_response_first && o <= Opcode::read_response_only;
}
/// SEND, WRITE and READ request: what a requester sends and a responder receives.
[[nodiscard]] constexpr bool is_request(Opcode o) { return o <= Opcode::read_request; }

/// Starts a message (FIRST or ONLY; a READ request is one packet).
[[nodiscard]] constexpr bool is_first(Opcode o) {
    using enum Opcode;
    return detail::is_one_of(o, send_first, send_only, send_only_immediate, write_first, write_only,
                             write_only_immediate, read_request, read_response_first, read_response_only);
}

/// Ends a message (LAST or ONLY).
[[nodiscard]] constexpr bool is_last(Opcode o) {
    using enum Opcode;
    return detail::is_one_of(o, send_last, send_last_immediate, send_only, send_only_immediate, write_last,
                             write_last_immediate, write_only, write_only_immediate, read_request, read_response_last,
                             read_response_only);
}

[[nodiscard]] constexpr bool has_reth(Opcode o) {
    using enum Opcode;
    return detail::is_one_of(o, write_first, write_only, write_only_immediate, read_request);
}

[[nodiscard]] constexpr bool has_aeth(Opcode o) {
    using enum Opcode;
    return detail::is_one_of(o, read_response_first, read_response_last, read_response_only, acknowledge);
}

[[nodiscard]] constexpr bool has_immediate(Opcode o) {
    using enum Opcode;
    return detail::is_one_of(o, send_last_immediate, send_only_immediate, write_last_immediate, write_only_immediate);
}

/// Whether the packet may carry payload. READ request, ACK and CNP never do.
[[nodiscard]] constexpr bool has_payload(Opcode o) { return is_send(o) || is_write(o) || is_read_response(o); }

/// Uses up a receive request at the peer when it completes: SEND, and anything with immediate.
[[nodiscard]] constexpr bool consumes_receive(Opcode o) { return (is_send(o) && is_last(o)) || has_immediate(o); }

/// For people: "WRITE First", "SEND Only with immediate", "ACK", "CNP".
[[nodiscard]] std::string_view to_string(Opcode opcode);

}  // namespace gradstorm::wire
