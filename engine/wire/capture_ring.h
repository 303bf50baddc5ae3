// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/wire/capture_writer.h"
#include "engine/wire/frame.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace gradstorm::wire {

/// Copies of frames on their way from a port to a capture file. Made once, of fixed size; a worker fills it, another
/// thread (or the same one, between steps) drains it. What finds no room is counted, never waited for.
class CaptureRing {
public:
    /// Room for `frames` frames (rounded up to a power of two) of at most `snap_length` bytes each; the rest of a
    /// longer frame is cut off, its length is kept.
    /// `shared_payload`: of gathered frames (gathered_frame.h), copied; empty: frames lie in their buffers whole.
    explicit CaptureRing(std::size_t frames, std::size_t snap_length = kFrameBufferSize,
                         std::span<const std::byte> shared_payload = {});

    // --- worker: data path
    /// Copies as many frames as find room, without making them visible; returns how many.
    std::size_t stage(std::span<const Frame> frames, CaptureDirection direction, Instant now);
    /// Makes the first `count` of `staged` visible, and counts as lost what went by in addition.
    void publish(std::size_t count, std::size_t staged);

    // --- whoever drains: one thread at a time
    /// Moves what is there to the file as frames of `interface`; returns how many. On an error the frame in hand is
    /// lost and counted.
    [[nodiscard]] Result<std::size_t> drain(CaptureWriter& writer, std::uint32_t interface);

    /// Frames that passed but are not in the capture. Any thread.
    [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

private:
    struct Record {
        Instant time{};
        std::uint16_t length = 0;
        CaptureDirection direction = CaptureDirection::unknown;
    };
    void copy(const Frame& frame, std::span<std::byte> out) const;
    [[nodiscard]] std::span<std::byte> bytes_of(std::uint64_t position) {
        return {bytes_.data() + (position & mask_) * snap_length_, snap_length_};
    }

    std::uint64_t mask_;
    std::size_t snap_length_;
    std::vector<std::byte> shared_payload_;
    std::vector<Record> records_;
    std::vector<std::byte> bytes_;
    std::atomic<std::uint64_t> lost_{0};
    alignas(64) std::atomic<std::uint64_t> head_{0};  ///< written by the worker
    alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< written by the drainer
};

}  // namespace gradstorm::wire
