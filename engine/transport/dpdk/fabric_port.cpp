// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/fabric_port.h"

#include "engine/wire/headers.h"
#include "engine/wire/prefetch.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gradstorm::transport::dpdk {
namespace {

using wire::Frame;

constexpr std::size_t kReturnBurst = 64;

std::ptrdiff_t distance(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

unsigned size32(std::size_t n) { return static_cast<unsigned>(n); }

std::size_t enqueue(rte_ring* ring, std::span<const Frame> frames) {
    return rte_ring_sp_enqueue_burst_elem(ring, frames.data(), sizeof(Frame), size32(frames.size()), nullptr);
}

/// The first six bytes of a frame. All frames that start with them take the same way.
std::uint64_t destination_of(const Frame& frame) {
    std::uint64_t bits;
    std::memcpy(&bits, frame.data(), sizeof bits);
    return bits << 16;
}

/// Length of the run at the front of `frames` that goes to the same destination.
std::size_t run_length(std::span<const Frame> frames) {
    const std::uint64_t destination = destination_of(frames.front());
    std::size_t length = 1;
    while (length < frames.size() && destination_of(frames[length]) == destination &&
           frames[length].length >= wire::kEthernetSize) {
        ++length;
    }
    return length;
}

}  // namespace

std::size_t FabricPort::allocate(std::span<Frame> out) {
    std::size_t count = 0;
    while (count < out.size()) {
        if (claimed_count_ == 0) {
            claim_ahead();
            if (claimed_count_ == 0) break;
        }
        const std::size_t some = std::min(out.size() - count, claimed_count_);
        for (std::size_t i = 0; i < some; ++i) {
            out[count + i] = {claimed_[i], wire::kPayloadAnchor, 0, worker_};
        }
        std::copy(claimed_.begin() + distance(some), claimed_.begin() + distance(claimed_count_), claimed_.begin());
        claimed_count_ -= some;
        count += some;
    }
    claim_ahead();
    return count;
}

/// Tops the claimed buffers up. First claimed, first used: by then the lines are there.
void FabricPort::claim_ahead() {
    const std::size_t wanted = claimed_.size() - claimed_count_;
    if (wanted < kAhead) return;
    if (stash_.size() < wanted) collect_returned();
    const std::size_t count = std::min(wanted, stash_.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::byte* buffer = stash_[stash_.size() - 1 - i];
        claimed_[claimed_count_ + i] = buffer;
        wire::prefetch_to_build(buffer, gathered_);
    }
    stash_.resize(stash_.size() - count);
    claimed_count_ += count;
}

void FabricPort::collect_returned() {
    std::array<std::byte*, kReturnBurst> returned;
    for (std::size_t asked = 0; asked < peers_.size(); ++asked) {
        rte_ring* ring = peers_[next_returned_].buffers_from;
        if (++next_returned_ == peers_.size()) next_returned_ = 0;
        while (const unsigned count =
                   rte_ring_sc_dequeue_burst_elem(ring, returned.data(), sizeof(std::byte*), kReturnBurst, nullptr)) {
            stash_.insert(stash_.end(), returned.begin(), returned.begin() + count);
            if (count < kReturnBurst) break;
        }
    }
}

std::size_t FabricPort::send(std::span<const Frame> frames) {
    std::size_t taken = 0;
    while (taken < frames.size()) {
        const std::span<const Frame> rest = frames.subspan(taken);
        const auto to =
            rest.front().length < wire::kEthernetSize ? fabric::ForwardingTable::kNoPort : table_->find(rest.front());
        if (to == fabric::ForwardingTable::kNoPort) {
            ++counters_.unknown_destination;
            free(rest.first(1));
            ++taken;
            continue;
        }
        const std::size_t run = run_length(rest);
        const std::size_t sent = enqueue(peers_[to].to, rest.first(run));
        taken += sent;
        counters_.sent += sent;
        room_at_least_ -= std::min(room_at_least_, sent);
        if (sent < run) {
            ++counters_.refused;
            break;
        }
    }
    return taken;
}

std::size_t FabricPort::receive(std::span<Frame> out) {
    std::size_t count = std::min(out.size(), fetched_end_ - next_fetched_);
    std::copy_n(fetched_.begin() + distance(next_fetched_), count, out.begin());
    next_fetched_ += count;
    if (count < out.size()) count += dequeue(out.subspan(count));
    if (count == out.size() && next_fetched_ == fetched_end_) {
        next_fetched_ = 0;
        fetched_end_ = dequeue(fetched_);
    }
    counters_.received += count;
    return count;
}

std::size_t FabricPort::dequeue(std::span<Frame> out) {
    std::size_t count = 0;
    for (std::size_t asked = 0; asked < peers_.size() && count < out.size(); ++asked) {
        rte_ring* ring = peers_[next_from_].from;
        if (++next_from_ == peers_.size()) next_from_ = 0;
        unsigned left = 0;
        const unsigned taken =
            rte_ring_sc_dequeue_burst_elem(ring, out.data() + count, sizeof(Frame), size32(out.size() - count), &left);
        count += taken;
        counters_.most_waiting = std::max<std::size_t>(counters_.most_waiting, taken + left);
    }
    for (const Frame& frame : out.first(count)) wire::prefetch_to_read(frame, gathered_);
    return count;
}

void FabricPort::free(std::span<const Frame> frames) {
    while (!frames.empty()) {
        const std::uint16_t owner = frames.front().source;
        std::size_t run = 1;
        while (run < frames.size() && run < kReturnBurst && frames[run].source == owner) ++run;
        give_back(owner, frames.first(run));
        frames = frames.subspan(run);
    }
}

void FabricPort::give_back(std::uint16_t owner, std::span<const Frame> frames) {
    std::array<std::byte*, kReturnBurst> buffers;
    std::size_t count = 0;
    for (const Frame& frame : frames) buffers[count++] = frame.buffer;
    if (owner == worker_) {
        stash_.insert(stash_.end(), buffers.begin(), buffers.begin() + distance(count));
    } else {
        // Never full: the ring has room for every buffer of its owner.
        rte_ring_sp_enqueue_burst_elem(peers_[owner].buffers_to, buffers.data(), sizeof(std::byte*), size32(count),
                                       nullptr);
    }
}

std::size_t FabricPort::room() {
    constexpr std::size_t kEnough = 64;  // asking all rings costs a cache line each: only when it may matter
    if (room_at_least_ < kEnough) room_at_least_ = least_room();
    return room_at_least_;
}

void FabricPort::mark_deliveries() {
    for (Peer& peer : peers_) {
        peer.mark = peer.to->prod.tail;
        peer.taken = false;
    }
}

bool FabricPort::deliveries_passed() {
    return std::all_of(peers_.begin(), peers_.end(), [](Peer& peer) { return answered(peer); });
}

bool FabricPort::answered(Peer& peer) {
    constexpr std::uint32_t kWholeStep = 2;  // the step under way may have begun before the frames were taken
    const std::uint32_t steps = peer.step_count->steps.load(std::memory_order_relaxed);
    if (!peer.taken) {
        peer.taken = static_cast<std::int32_t>(peer.to->cons.tail - peer.mark) >= 0;
        peer.taken_at = steps;
    }
    return peer.taken && steps - peer.taken_at >= kWholeStep;
}

PortStatistics FabricPort::statistics() const {
    const auto capacity = static_cast<double>(rte_ring_get_capacity(peers_.front().from));
    return {.send_refusals = counters_.refused,
            .lost_frames = counters_.unknown_destination,
            .ring_high_water = static_cast<double>(counters_.most_waiting) / capacity};
}

std::size_t FabricPort::least_room() const {
    std::size_t least = SIZE_MAX;
    for (const Peer& peer : peers_) least = std::min<std::size_t>(least, rte_ring_free_count(peer.to));
    return least;
}

}  // namespace gradstorm::transport::dpdk
