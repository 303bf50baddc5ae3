// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "base/time.h"
#include "engine/roce/completion_queue.h"
#include "engine/roce/config.h"
#include "engine/roce/memory_regions.h"
#include "engine/roce/queue_pair_state.h"
#include "engine/roce/timer_heap.h"
#include "engine/transport/endpoint.h"
#include "engine/wire/frame_checksum.h"
#include "engine/wire/line_rate.h"

#include <cstdint>
#include <vector>

namespace gradstorm::roce {

using transport::QueuePairIndex;

/// What requester and responder of one software HCA share. Owned by HcaCore; one thread.
struct HcaState {
    explicit HcaState(const SoftwareHcaConfig& configuration)
        : config(configuration),
          checksum(configuration.payload, configuration.payload_seed, configuration.gathered),
          counters(configuration.addresses.size()) {}

    SoftwareHcaConfig config;
    wire::FrameChecksum checksum;
    MemoryRegions regions;
    CompletionQueue completions;
    TimerHeap timers;
    Instant now{};
    Ring<QueuePairIndex> ready;  ///< queue pairs that may have something to send, each once, in the order of turns
    Ring<QueuePairIndex> owing;  ///< queue pairs that owe an ACK, NAK or CNP, each once
    std::vector<transport::HcaCounters> counters;  ///< by HCA; never resized

    // By queue pair.
    std::vector<RequesterState> requesters;
    std::vector<ResponderState> responders;
    std::vector<QueuePair> pairs;

    /// Gives the queue pair a turn, if it has none coming.
    void make_ready(QueuePairIndex index) {
        QueuePair& pair = pairs[index];
        if (pair.in_ready_list || !pair.connected) return;
        pair.in_ready_list = true;
        ready.push(index);
    }

    void owe(QueuePairIndex index, std::uint8_t what) {
        ResponderState& responder = responders[index];
        responder.owed |= what;
        if (responder.in_owing_list) return;
        responder.in_owing_list = true;
        owing.push(index);
    }

    void set_deadline(QueuePairIndex index, Instant deadline) {
        requesters[index].deadline = deadline;
        timers.arm(index, deadline);
    }

    /// Ends the queue pair: its oldest work request completes with `status`, everything else posted as flushed. With
    /// flushed as status, all is: the peer broke the rules, not we.
    void fail(QueuePairIndex index, transport::CompletionStatus status);
};

}  // namespace gradstorm::roce
