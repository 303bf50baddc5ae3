// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/crc32.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_codec.h"
#include "engine/wire/header_deltas.h"
#include "engine/wire/synthetic_payload.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gradstorm::wire {

/// What the payload of a frame is.
enum class PayloadMode : std::uint8_t {
    /// The run's constant payload, which the port's buffers already hold (synthetic_payload.h). Neither end touches it:
    /// memory regions are address ranges that are checked and counted. The ICRC on the wire is right; a receiver checks
    /// it against the headers it got and the constant payload.
    synthetic,
    /// Copied from local memory into frames and from frames into remote memory; the ICRC is computed and checked over
    /// every byte.
    memory,
};

/// The ICRC of frames in either payload mode. In synthetic mode the part of the payload is known beforehand, so only
/// headers are read; in memory mode every byte is.
class FrameChecksum {
public:
    /// `gathered`: the port's frames are (wire/gathered_frame.h); in synthetic mode alone.
    FrameChecksum(PayloadMode mode, std::uint64_t seed, bool gathered = false);

    [[nodiscard]] PayloadMode mode() const { return mode_; }
    [[nodiscard]] bool gathered() const { return gathered_; }
    /// Where the ICRC of a frame lies in its buffer, from the payload anchor on; `padded` is its payload with the pad.
    [[nodiscard]] std::size_t icrc_place(std::size_t padded) const { return gathered_ ? 0 : padded; }
    [[nodiscard]] const SyntheticPayload& constant_payload() const { return payload_; }

    /// The delta tables for payloads of this length (0 or a path MTU); made when first asked for, before the run.
    const HeaderDeltas& prepare(std::size_t payload_length);

    /// Writes the headers of a frame that has no template into its buffer: everything but payload and ICRC.
    void begin(Frame& frame, const FrameHeaders& headers, std::size_t payload_length) const;

    /// Writes the ICRC of a frame whose headers, and in memory mode whose payload, are in place; clears the pad.
    void seal(const Frame& frame, std::size_t header_size, std::size_t payload_length) const;

    /// Whether the ICRC of a received frame (of `length` bytes to the end of the ICRC, as on the wire) is right.
    [[nodiscard]] bool verify(const std::byte* frame, std::size_t length, std::size_t header_size,
                              std::size_t payload_length) const;

    /// What the payload at `at` adds to the ICRC of a header template: nothing in synthetic mode, where templates
    /// contain it.
    [[nodiscard]] std::uint32_t payload_part(const std::byte* at, std::size_t length) const {
        return mode_ == PayloadMode::memory ? crc32_update(0, {at, length}) : 0;
    }

    /// The ICRC of a header template with `payload_length` bytes and their pad behind it.
    [[nodiscard]] std::uint32_t template_icrc(std::span<const std::byte> headers, std::size_t payload_length) const;

private:
    [[nodiscard]] std::uint32_t synthetic_icrc(std::span<const std::byte> headers, std::size_t payload_length) const;

    PayloadMode mode_;
    bool gathered_;
    SyntheticPayload payload_;
    std::vector<std::uint32_t> powers_;  // x^(32 i): multiplying moves a CRC over i words of zeros
    std::vector<std::uint32_t> states_;  // of payload prefixes with their pad, by length; empty in memory mode
    std::array<std::unique_ptr<HeaderDeltas>, kMaxPathMtu / 256 + 1> deltas_;  // by payload length / 256
};

}  // namespace gradstorm::wire
