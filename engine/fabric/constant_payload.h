// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace gradstorm::fabric {

/// The constant payload that a pool for synthetic traffic keeps in every buffer behind wire::kPayloadAnchor. Senders do
/// not write it, but the pad and the ICRC of a frame shorter than the payload lie on top of it: a port that takes a
/// buffer back mends that with restore(). Empty (no payload): both do nothing.
class ConstantPayload {
public:
    ConstantPayload() = default;
    /// At most wire::kMaxPathMtu bytes, copied.
    explicit ConstantPayload(std::span<const std::byte> payload) : size_(payload.size()) {
        if (payload.empty()) return;
        padded_.resize(kTail + payload.size() + kTail);
        std::copy(payload.begin(), payload.end(), padded_.begin() + kTail);
    }

    void fill(std::byte* buffer) const {
        if (size_ != 0) std::memcpy(buffer + wire::kPayloadAnchor, padded_.data() + kTail, size_);
    }

    /// Puts back what lay under the last bytes of a frame, whatever they are now. The frame is used up: some bytes in
    /// front of the anchor or behind the payload may change.
    void restore(const wire::Frame& frame) const {
        const std::size_t end = std::size_t{frame.offset} + frame.length;
        const std::size_t covered = end + kTail - wire::kPayloadAnchor;  // where the tail ends in padded_, if it does
        if (covered - kTail > size_ + wire::kIcrcSize || size_ == 0) return;
        std::byte* tail = frame.buffer + end - kTail;
        const std::byte* under = padded_.data() + covered - kTail;
        if (covered - kTail == size_ + wire::kIcrcSize) {
            // The ICRC is behind the payload, only a pad may be on top: as a rule there is none, and nothing to write.
            if (std::memcmp(tail, under, kTail - wire::kIcrcSize) != 0) {
                std::memcpy(tail, under, kTail - wire::kIcrcSize);
            }
        } else {
            std::memcpy(tail, under, kTail);
        }
    }

private:
    static constexpr std::size_t kTail = 8;  // an ICRC and up to three pad bytes, rounded up to one store

    std::size_t size_ = 0;
    std::vector<std::byte> padded_;  // kTail bytes, the payload, kTail bytes
};

}  // namespace gradstorm::fabric
