// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/transport/queue_pair.h"

#include <bit>
#include <cstdint>
#include <vector>

/// Connections: one queue pair at each end for each (job, sending rank, receiving rank, channel). Data goes one way,
/// credits the other. All message counters run on over calls and iterations and never restart.
namespace gradstorm::replay {

struct ConnectionName {
    std::uint32_t job = 0;
    std::uint32_t from = 0;  ///< rank of the run that sends
    std::uint32_t to = 0;    ///< rank of the run that receives
    std::uint32_t channel = 0;
    friend auto operator<=>(const ConnectionName&, const ConnectionName&) = default;
};

/// The landing slots of a connection, in the receiver's memory. Slot messages use them in turn, so both ends know where
/// message number i lands: in slot i mod count.
struct LandingSlots {
    std::uint64_t address = 0;
    std::uint64_t stride = 0;  ///< bytes, at least the largest message
    std::uint32_t count = 1;
    [[nodiscard]] std::uint64_t of(std::uint64_t slot_message) const {
        return address + (slot_message % count) * stride;
    }
};

/// Requests of one queue pair that its send queue holds. The slot accounting that stands above every back end.
struct SendQueueUse {
    std::uint32_t depth = 1;
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    [[nodiscard]] bool room() const { return posted - completed < depth; }
    [[nodiscard]] bool empty() const { return posted == completed; }
};

/// The sender's end.
struct SendConnection {
    ConnectionName name;
    transport::QueuePairIndex queue_pair = 0;
    std::uint32_t remote_key = 0;
    std::uint32_t local_key = 0;
    LandingSlots slots;                   ///< the peer's
    SendQueueUse queue;                   ///< queue.posted is also the number of the next message
    std::uint64_t granted = 0;            ///< messages that the peer has allowed so far
    std::uint64_t slot_messages = 0;      ///< messages posted to slots so far
    std::vector<Instant> posted_at;       ///< of the messages in flight; a power of two of entries
    Instant last_heard = Instant::min();  ///< when a completion last told something of the peer

    [[nodiscard]] bool may_send() const { return queue.posted < granted && queue.room(); }
    [[nodiscard]] Instant& posted_at_of(std::uint64_t message) { return posted_at[message & (posted_at.size() - 1)]; }
};

/// The receiver's end.
struct ReceiveConnection {
    ConnectionName name;
    transport::QueuePairIndex queue_pair = 0;
    std::uint32_t remote_key = 0;
    std::uint64_t remote_address = 0;  ///< a legal address for empty writes
    LandingSlots slots;                ///< our own
    SendQueueUse queue;                ///< of the credits
    std::uint64_t granted = 0;         ///< messages allowed so far
    std::uint64_t landed = 0;          ///< messages arrived
    std::uint64_t slots_granted = 0;
    std::uint64_t slots_taken = 0;       ///< slots whose message an op has been started on
    std::uint64_t slots_emptied = 0;     ///< slots whose message is done with
    bool credit_owed = false;            ///< in the list of connections that owe one
    std::vector<std::uint64_t> lengths;  ///< of the messages granted and not landed; a power of two of entries
    Instant last_heard = Instant::min();

    /// At most `slots.count` messages are under way, and a slot is granted again only after it has been emptied.
    [[nodiscard]] bool may_grant(bool into_slot) const {
        if (granted - landed >= slots.count) return false;
        return !into_slot || slots_granted - slots_emptied < slots.count;
    }
    [[nodiscard]] std::uint64_t& length_of(std::uint64_t message) { return lengths[message & (lengths.size() - 1)]; }
};

/// The 64-bit count whose low 32 bits an immediate carried: the first one from `last` on. Counts under way never lie
/// 2^32 apart.
[[nodiscard]] constexpr std::uint64_t extend(std::uint64_t last, std::uint32_t low) {
    return last + static_cast<std::uint32_t>(low - static_cast<std::uint32_t>(last));
}

}  // namespace gradstorm::replay
