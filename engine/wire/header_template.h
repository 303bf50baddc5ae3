// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/byte_order.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_checksum.h"
#include "engine/wire/frame_codec.h"
#include "engine/wire/header_deltas.h"
#include "engine/wire/icrc.h"
#include "engine/wire/opcode.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gradstorm::wire {

/// The frames worth a prepared header: those of WRITEs that are full to the path MTU, the empty WRITE with immediate
/// that carries a credit, and the ACK. Everything else is built and taken apart field by field.
enum class TemplateKind : std::uint8_t {
    write_first,
    write_middle,
    write_last,
    write_last_immediate,
    write_only,
    write_only_immediate,
    credit,
    acknowledge,
    other,  ///< none of them
};
inline constexpr std::size_t kTemplateKinds = static_cast<std::size_t>(TemplateKind::other);

[[nodiscard]] constexpr Opcode opcode_of(TemplateKind shape) {
    constexpr std::array<Opcode, kTemplateKinds> kOpcodes{
        Opcode::write_first, Opcode::write_middle,         Opcode::write_last,           Opcode::write_last_immediate,
        Opcode::write_only,  Opcode::write_only_immediate, Opcode::write_only_immediate, Opcode::acknowledge};
    return kOpcodes[static_cast<std::size_t>(shape)];
}

/// Whether frames of the shape carry one path MTU of payload (else none).
[[nodiscard]] constexpr bool is_full(TemplateKind shape) { return shape < TemplateKind::credit; }

/// The fields of a frame that differ from one to the next of its shape.
struct VariableFields {
    std::uint32_t psn_word = 0;  ///< the last word of the BTH: AckReq in bit 31, PSN in bits 0 to 23
    std::uint64_t address = 0;   ///< RETH
    std::uint32_t tail = 0;      ///< immediate or AETH
};
inline constexpr std::uint32_t kAckRequestBit = 0x8000'0000;

/// Where the fields lie, in bytes in front of the payload, for one shape.
template <TemplateKind S>
struct Layout {
    static constexpr Opcode kOpcode = opcode_of(S);
    static constexpr bool kReth = has_reth(kOpcode);
    static constexpr bool kTail = has_immediate(kOpcode) || has_aeth(kOpcode);
    static constexpr std::size_t kTailSize = kTail ? 4 : 0;
    static constexpr std::size_t kExtension = extended_header_size(kOpcode);

    [[nodiscard]] static std::uint32_t delta(const HeaderDeltas& deltas, const VariableFields& fields) {
        std::uint32_t delta = deltas.field<kExtension, 4>(fields.psn_word);
        if constexpr (kReth) delta ^= deltas.field<kTailSize + 8, 8>(fields.address);
        if constexpr (kTail) delta ^= deltas.field<0, 4>(fields.tail);
        return delta;
    }
    static void store(std::byte* payload, const VariableFields& fields) {
        store_big<std::uint32_t>(payload - kExtension - 4, fields.psn_word);
        if constexpr (kReth) store_big<std::uint64_t>(payload - kTailSize - 16, fields.address);
        if constexpr (kTail) store_big<std::uint32_t>(payload - 4, fields.tail);
    }
    [[nodiscard]] static VariableFields load(const std::byte* payload) {
        VariableFields fields{.psn_word = load_big<std::uint32_t>(payload - kExtension - 4)};
        if constexpr (kReth) fields.address = load_big<std::uint64_t>(payload - kTailSize - 16);
        if constexpr (kTail) fields.tail = load_big<std::uint32_t>(payload - 4);
        return fields;
    }
};

/// A prepared header, as the two cache lines in front of and around the payload anchor that it fills in a buffer: one
/// 64-byte store writes the whole header of a MIDDLE frame over IPv4. The payload's first bytes in the second line are
/// those of the constant payload, so that the store also mends what an ACK's ICRC left there.
struct alignas(64) HeaderTemplate {
    static constexpr std::size_t kStart = 64;  ///< of the lines in a buffer
    static constexpr std::size_t kSize = 128;
    std::array<std::byte, kSize> lines{};
    std::uint32_t icrc = 0;        ///< with the variable fields zero and the remote key and length below
    std::uint32_t remote_key = 0;  ///< of the RETH; changing it means a new template ICRC
    std::uint32_t length = 0;      ///< of the message, in the RETH
    std::uint16_t offset = 0;      ///< of the frame in its buffer
    std::uint16_t frame_length = 0;
    std::uint16_t header_size = 0;
    std::uint16_t payload_length = 0;

    /// Where the payload of a frame would start in its buffer, and where the ICRC of a gathered one does.
    [[nodiscard]] std::size_t end() const { return std::size_t{offset} + header_size; }

    [[nodiscard]] bool matches(std::uint32_t key, std::uint32_t message_length) const {
        return remote_key == key && length == message_length;
    }

    /// Makes the template of a kind; `headers` has addresses, ports and queue pair number. `payload`: bytes behind the
    /// headers of the kinds that have any, as a rule the path MTU.
    void make(TemplateKind kind, FrameHeaders headers, std::uint32_t payload, const FrameChecksum& checksum);
    /// Changes remote key and message length.
    void set_message(TemplateKind kind, std::uint32_t key, std::uint32_t message_length, const FrameChecksum& checksum);

    /// Builds a frame in its buffer up to the payload, and returns the ICRC without what payload_part() adds.
    template <TemplateKind S>
    [[nodiscard]] std::uint32_t stamp(Frame& frame, const HeaderDeltas& deltas, const VariableFields& fields) const {
        fill<S>(frame, fields);
        return icrc ^ Layout<S>::delta(deltas, fields);
    }

    /// The same for who knows the deltas of the fields better.
    template <TemplateKind S>
    void fill(Frame& frame, const VariableFields& fields) const {
        frame.offset = offset;
        frame.length = frame_length;
        frame.headers = header_size;
        std::memcpy(frame.buffer + kStart + 64, lines.data() + 64, 64);
        if (offset < kStart + 64) stamp_front(frame.buffer);
        Layout<S>::store(frame.buffer + end(), fields);
    }

private:
    /// Headers reach into the line in front, as a rule by less than half of it, with what is the same in frame after
    /// frame. A line that is not written need not come back from the core that read it last.
    void stamp_front(std::byte* buffer) const {
        if (std::memcmp(buffer + kStart + 32, lines.data() + 32, 32) != 0) {
            std::memcpy(buffer + kStart + 32, lines.data() + 32, 32);
        }
        if (offset < kStart + 32) std::memcpy(buffer + kStart, lines.data(), 32);
    }
};

/// What the next frame of a shape from a peer looks like, learnt from the last one that was taken apart and checked in
/// full: whatever the peer's ports, DSCP and TTL are, a frame that differs only in its variable fields is recognised by
/// comparing 50 bytes, and its ICRC by deltas. IPv4 without a VLAN tag.
struct alignas(64) ExpectedHeader {
    static constexpr std::size_t kCompared = 50;  ///< up to the word of the BTH that has the PSN
    std::array<std::byte, kCompared> bytes{};
    std::uint16_t frame_length = 0;  ///< 0: nothing learnt yet
    std::uint32_t icrc = 0;          ///< with the variable fields zero
    std::uint64_t reth_tail = 0;     ///< remote key and message length as they lie in the frame

    template <TemplateKind S>
    void learn(const std::byte* frame, std::uint16_t length, std::uint32_t payload_part, const HeaderDeltas& deltas) {
        const std::byte* payload = frame + kPayloadOffset<S>;
        std::memcpy(bytes.data(), frame, kCompared);
        frame_length = length;
        icrc = get_icrc(frame + length - kIcrcSize) ^ payload_part ^ Layout<S>::delta(deltas, Layout<S>::load(payload));
        if constexpr (Layout<S>::kReth) reth_tail = load_reth_tail<S>(payload);
    }

    /// Whether the frame has this header; says nothing of its variable fields and its ICRC.
    template <TemplateKind S>
    [[nodiscard]] bool same(const std::byte* frame, std::uint16_t length) const {
        if (length != frame_length) return false;
        std::uint64_t difference = 0;
        for (std::size_t at = 0; at < 48; at += 8) difference |= word(frame + at) ^ word(bytes.data() + at);
        difference |= word(frame + 42) ^ word(bytes.data() + 42);
        if constexpr (Layout<S>::kReth) difference |= load_reth_tail<S>(frame + kPayloadOffset<S>) ^ reth_tail;
        return difference == 0;
    }

    template <TemplateKind S>
    static constexpr std::size_t kPayloadOffset = header_size(opcode_of(S), true, false);

private:
    static std::uint64_t word(const std::byte* at) {
        std::uint64_t value{};
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    template <TemplateKind S>
    static std::uint64_t load_reth_tail(const std::byte* payload) {
        return word(payload - Layout<S>::kTailSize - 8);
    }
};
static_assert(sizeof(ExpectedHeader) == 64);

}  // namespace gradstorm::wire
