// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/wire/capture_ring.h"
#include "engine/wire/frame_port.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradstorm::wire {

/// A capture tap: passes everything through to another port and copies each frame that is sent or received into a ring,
/// which somebody drains into a file outside the data path (drain(), or the ring's). Frames carry the time of the last
/// advance(). A frame that the port behind did not take is not recorded; one that found no room in the ring is counted
/// (lost()). Does not own the port; it has to outlive the tap.
template <FramePort P>
class TapPort {
public:
    /// `interface` is the port's number in the capture file; the rest: see CaptureRing.
    TapPort(P& port, std::size_t ring_frames, std::uint32_t interface = 0, std::size_t snap_length = kFrameBufferSize,
            std::span<const std::byte> shared_payload = {})
        : port_(port), ring_(ring_frames, snap_length, shared_payload), interface_(interface) {}

    std::size_t allocate(std::span<Frame> out) { return port_.allocate(out); }

    std::size_t send(std::span<const Frame> frames) {
        // Copied first: once sent, the bytes belong to the receiver.
        const std::size_t staged = ring_.stage(frames, CaptureDirection::sent, now_);
        const std::size_t taken = port_.send(frames);
        ring_.publish(taken, staged);
        return taken;
    }

    std::size_t receive(std::span<Frame> out) {
        const std::size_t received = port_.receive(out);
        if (received != 0) {
            ring_.publish(received, ring_.stage(out.first(received), CaptureDirection::received, now_));
        }
        return received;
    }

    void free(std::span<const Frame> frames) { port_.free(frames); }
    std::size_t room() { return port_.room(); }

    Instant advance(Instant now) {
        now_ = now;
        return port_.advance(now);
    }
    void mark_deliveries()
        requires MarksDeliveries<P>
    {
        port_.mark_deliveries();
    }
    [[nodiscard]] bool deliveries_passed()
        requires MarksDeliveries<P>
    {
        return port_.deliveries_passed();
    }

    /// Moves what was captured so far to the file. From one thread at a time; it may be another than the worker's.
    [[nodiscard]] Result<std::size_t> drain(CaptureWriter& writer) { return ring_.drain(writer, interface_); }
    /// Frames that passed the tap but are not in the capture. Any thread.
    [[nodiscard]] std::uint64_t lost() const { return ring_.lost(); }

private:
    P& port_;
    CaptureRing ring_;
    std::uint32_t interface_;
    Instant now_{};
};

}  // namespace gradstorm::wire
