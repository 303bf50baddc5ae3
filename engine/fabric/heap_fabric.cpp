// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/heap_fabric.h"

#include "engine/wire/headers.h"
#include "engine/wire/line_rate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <new>

namespace gradstorm::fabric {
namespace {

constexpr std::size_t kBufferAlignment = 64;

struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kBufferAlignment}); }
};

}  // namespace

struct HeapFabric::PortState {
    struct Delivery {
        wire::Frame frame;
        ForwardingTable::Port sender = 0;
    };

    PortState(HeapFabric& fabric, ForwardingTable::Port number, std::size_t buffers, const ConstantPayload& payload)
        : port(fabric, number),
          memory(new(std::align_val_t{kBufferAlignment}) std::byte[buffers * wire::kFrameBufferSize]()) {
        free.reserve(buffers);
        for (std::size_t i = buffers; i-- > 0;) {
            std::byte* buffer = memory.get() + i * wire::kFrameBufferSize;
            payload.fill(buffer);
            free.push_back(buffer);
        }
    }

    HeapPort port;
    std::unique_ptr<std::byte[], AlignedDelete> memory;
    std::vector<std::byte*> free;    // last in, first out
    std::deque<Delivery> inbound;    // arrived, in order
    Picoseconds sender_free_at = 0;  // when the wire towards the switch is idle again
    Picoseconds receiver_free_at = 0;
    std::size_t under_way = 0;  // frames sent from here that nobody has received yet
};

HeapFabric::HeapFabric(const HeapFabricOptions& options)
    : picoseconds_per_byte_(options.line_rate.value > 0 ? 8e12 / options.line_rate.value : 0),
      latency_(options.latency.count() * 1000),
      egress_frames_(options.egress_frames),
      payload_(options.payload) {
    assert(options.ports < ForwardingTable::kNoPort);
    assert(options.payload.size() <= wire::kMaxPathMtu);
    for (std::size_t i = 0; i < options.ports; ++i) {
        ports_.push_back(
            std::make_unique<PortState>(*this, static_cast<ForwardingTable::Port>(i), options.buffers, payload_));
    }
}

HeapFabric::~HeapFabric() = default;

HeapPort& HeapFabric::port(std::size_t number) { return ports_.at(number)->port; }

void HeapFabric::attach(const wire::MacAddress& mac, std::size_t number) {
    assert(number < ports_.size());
    table_.insert(mac, static_cast<ForwardingTable::Port>(number));
}

std::size_t HeapFabric::free_buffers(std::size_t number) const { return ports_.at(number)->free.size(); }

HeapFabric::Picoseconds HeapFabric::time_on_wire(const wire::Frame& frame) const {
    return std::llround(picoseconds_per_byte_ * static_cast<double>(wire::line_bytes(frame.length)));
}

void HeapFabric::send(ForwardingTable::Port sender, const wire::Frame& frame) {
    const ForwardingTable::Port receiver =
        frame.length < wire::kEthernetSize ? ForwardingTable::kNoPort : table_.find(frame);
    if (receiver == ForwardingTable::kNoPort) {
        ++counters_.unknown_destination;
        release(frame);
        return;
    }
    PortState& from = *ports_[sender];
    from.sender_free_at =
        std::max(from.sender_free_at, now_.time_since_epoch().count() * Picoseconds{1000}) + time_on_wire(frame);
    ++from.under_way;
    events_.push({from.sender_free_at + latency_, sequence_++, frame, sender, receiver, false});
}

void HeapFabric::happen(Event event) {
    PortState& to = *ports_[event.receiver];
    if (!event.on_receiver_wire) {
        to.receiver_free_at = std::max(event.at, to.receiver_free_at + time_on_wire(event.frame));
        if (to.receiver_free_at > event.at) {
            event.at = to.receiver_free_at;
            event.on_receiver_wire = true;
            events_.push(event);
            return;
        }
    }
    to.inbound.push_back({event.frame, event.sender});
}

void HeapFabric::release(const wire::Frame& frame) {
    assert(frame.source < ports_.size());
    payload_.restore(frame);
    ports_[frame.source]->free.push_back(frame.buffer);
}

Instant HeapFabric::advance(Instant now) {
    now_ = std::max(now_, now);
    const Picoseconds until = now_.time_since_epoch().count() * Picoseconds{1000};
    while (!events_.empty() && events_.top().at <= until) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
    }
    return events_.empty() ? kNoDeadline : Instant{Nanoseconds{(events_.top().at + 999) / 1000}};
}

std::size_t HeapPort::allocate(std::span<wire::Frame> out) {
    auto& free = fabric_->ports_[number_]->free;
    const std::size_t count = std::min(out.size(), free.size());
    for (wire::Frame& frame : out.first(count)) {
        frame = {free.back(), wire::kPayloadAnchor, 0, number_};
        free.pop_back();
    }
    return count;
}

std::size_t HeapPort::send(std::span<const wire::Frame> frames) {
    const std::size_t count = std::min(frames.size(), room());
    for (const wire::Frame& frame : frames.first(count)) fabric_->send(number_, frame);
    return count;
}

std::size_t HeapPort::receive(std::span<wire::Frame> out) {
    auto& inbound = fabric_->ports_[number_]->inbound;
    const std::size_t count = std::min(out.size(), inbound.size());
    for (wire::Frame& frame : out.first(count)) {
        frame = inbound.front().frame;
        --fabric_->ports_[inbound.front().sender]->under_way;
        inbound.pop_front();
    }
    fabric_->counters_.forwarded += count;
    return count;
}

void HeapPort::free(std::span<const wire::Frame> frames) {
    for (const wire::Frame& frame : frames) fabric_->release(frame);
}

std::size_t HeapPort::room() const { return fabric_->egress_frames_ - fabric_->ports_[number_]->under_way; }

Instant HeapPort::advance(Instant now) {
    const Instant next = fabric_->advance(now);
    return fabric_->ports_[number_]->inbound.empty() ? next : fabric_->now_;
}

}  // namespace gradstorm::fabric
