// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "base/units.h"
#include "engine/fabric/constant_payload.h"
#include "engine/fabric/forwarding_table.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_port.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

namespace gradstorm::fabric {

struct HeapFabricOptions {
    std::size_t ports = 2;            ///< below ForwardingTable::kNoPort
    BitsPerSecond line_rate{};        ///< of each port, each direction; 0: frames take no time on the wire
    Nanoseconds latency{};            ///< from the last bit on the sender's wire to the last bit at the receiver
    std::size_t buffers = 1024;       ///< packet buffers of each port
    std::size_t egress_frames = 512;  ///< frames of one port under way; beyond it send() takes no more
    /// Constant payload that every buffer holds behind wire::kPayloadAnchor; at most kMaxPathMtu bytes, copied.
    std::span<const std::byte> payload{};
};

class HeapFabric;

/// One port of a HeapFabric, a wire::FramePort. Made by the fabric and alive as long as it.
class HeapPort {
public:
    HeapPort(HeapFabric& fabric, ForwardingTable::Port number) : fabric_(&fabric), number_(number) {}

    std::size_t allocate(std::span<wire::Frame> out);
    std::size_t send(std::span<const wire::Frame> frames);
    std::size_t receive(std::span<wire::Frame> out);
    void free(std::span<const wire::Frame> frames);
    [[nodiscard]] std::size_t room() const;
    /// Advances the whole fabric. The deadline is now while frames wait here to be received, otherwise when the next
    /// frame moves, towards whatever port.
    Instant advance(Instant now);

    [[nodiscard]] ForwardingTable::Port number() const { return number_; }

private:
    HeapFabric* fabric_;
    ForwardingTable::Port number_;
};
static_assert(wire::FramePort<HeapPort>);

/// Frames and bytes are counted where they happen; nothing is lost but frames for an unknown destination MAC.
struct HeapFabricCounters {
    std::uint64_t forwarded = 0;            ///< frames handed to a receiver
    std::uint64_t unknown_destination = 0;  ///< frames dropped because no port has their destination MAC
};

/// Joins ports in one thread and in virtual time: an output-queued cut-through switch with one wire to each port.
///
/// A frame starts on its sender's wire when that is idle, takes (length + 24 B of FCS, preamble and gap) at line rate,
/// and arrives `latency` later, or behind the frame in front of it on the receiver's wire if that is still busy. Times
/// are kept in picoseconds, so that rates hold exactly over long runs; a frame is due at the next whole nanosecond.
/// Order is that of time, then of send(): the same calls give the same frames in the same order on any machine.
///
/// Back-pressure, not loss: a port has at most `egress_frames` under way, from send() until their receiver takes them.
class HeapFabric {
public:
    explicit HeapFabric(const HeapFabricOptions& options);
    HeapFabric(const HeapFabric&) = delete;
    HeapFabric& operator=(const HeapFabric&) = delete;
    ~HeapFabric();

    [[nodiscard]] HeapPort& port(std::size_t number);

    /// Frames for `mac` leave by port `number`. Before the first frame is sent.
    void attach(const wire::MacAddress& mac, std::size_t number);

    /// Moves time: what is due is there to be received. Never goes back. Returns when the next frame moves.
    Instant advance(Instant now);

    /// Buffers of a port that lie in its pool: all of them when everybody has freed what he received.
    [[nodiscard]] std::size_t free_buffers(std::size_t number) const;

    [[nodiscard]] const HeapFabricCounters& counters() const { return counters_; }

private:
    friend class HeapPort;
    using Picoseconds = std::int64_t;
    struct PortState;

    /// A frame's last bit gets somewhere: first to the end of its sender's wire plus latency, then, if frames in front
    /// of it kept the receiver's wire busy, to the end of that wire.
    struct Event {
        Picoseconds at = 0;
        std::uint64_t sequence = 0;
        wire::Frame frame;
        ForwardingTable::Port sender = 0;
        ForwardingTable::Port receiver = 0;
        bool on_receiver_wire = false;
        bool operator>(const Event& other) const { return at != other.at ? at > other.at : sequence > other.sequence; }
    };

    [[nodiscard]] Picoseconds time_on_wire(const wire::Frame& frame) const;
    void send(ForwardingTable::Port sender, const wire::Frame& frame);
    void happen(Event event);
    void release(const wire::Frame& frame);

    double picoseconds_per_byte_ = 0;
    Picoseconds latency_ = 0;
    std::size_t egress_frames_ = 0;
    ConstantPayload payload_;
    Instant now_{};
    std::uint64_t sequence_ = 0;
    ForwardingTable table_;
    std::vector<std::unique_ptr<PortState>> ports_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    HeapFabricCounters counters_;
};

}  // namespace gradstorm::fabric
