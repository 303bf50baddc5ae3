// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/capture_ring.h"

#include "engine/wire/gathered_frame.h"

#include <bit>

namespace gradstorm::wire {

CaptureRing::CaptureRing(std::size_t frames, std::size_t snap_length, std::span<const std::byte> shared_payload)
    : mask_(std::bit_ceil(std::max<std::size_t>(frames, 1)) - 1),
      snap_length_(snap_length),
      shared_payload_(shared_payload.begin(), shared_payload.end()),
      records_(mask_ + 1),
      bytes_(records_.size() * snap_length) {}

std::size_t CaptureRing::stage(std::span<const Frame> frames, CaptureDirection direction, Instant now) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t used = head - tail_.load(std::memory_order_acquire);
    const std::size_t count = std::min<std::size_t>(frames.size(), records_.size() - used);
    for (std::size_t i = 0; i < count; ++i) {
        const Frame& frame = frames[i];
        records_[(head + i) & mask_] = {.time = now, .length = frame.length, .direction = direction};
        copy(frame, bytes_of(head + i));
    }
    return count;
}

void CaptureRing::copy(const Frame& frame, std::span<std::byte> out) const {
    if (shared_payload_.empty()) {
        std::memcpy(out.data(), frame.data(), std::min<std::size_t>(frame.length, out.size()));
    } else {
        gather(frame, shared_payload_, out);
    }
}

void CaptureRing::publish(std::size_t count, std::size_t staged) {
    const std::size_t visible = std::min(count, staged);
    head_.store(head_.load(std::memory_order_relaxed) + visible, std::memory_order_release);
    if (count > visible) lost_.fetch_add(count - visible, std::memory_order_relaxed);
}

Result<std::size_t> CaptureRing::drain(CaptureWriter& writer, std::uint32_t interface) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    const auto count = static_cast<std::size_t>(head - tail);
    for (; tail != head; tail_.store(++tail, std::memory_order_release)) {
        const Record& record = records_[tail & mask_];
        const auto bytes = bytes_of(tail).first(std::min<std::size_t>(record.length, snap_length_));
        auto written = writer.write({.interface = interface,
                                     .time = record.time,
                                     .direction = record.direction,
                                     .original_length = record.length,
                                     .bytes = bytes});
        if (!written) {
            lost_.fetch_add(1, std::memory_order_relaxed);
            tail_.store(tail + 1, std::memory_order_release);
            return tl::unexpected{written.error()};
        }
    }
    return count;
}

}  // namespace gradstorm::wire
