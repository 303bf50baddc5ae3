// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/roce/hca_state.h"
#include "engine/roce/requester.h"
#include "engine/roce/responder.h"
#include "engine/transport/endpoint.h"
#include "engine/wire/frame.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::roce {

/// The reliable-connection protocol of one software HCA without its port: takes bursts of received frames apart, builds
/// bursts of frames to send. SoftwareHca (software_hca.h) joins it with a port, one call here a burst.
class HcaCore {
public:
    explicit HcaCore(const SoftwareHcaConfig& config);

    // --- control: see transport::Endpoint
    [[nodiscard]] std::size_t hca_count() const { return state_.config.addresses.size(); }
    [[nodiscard]] Result<transport::MemoryRegion> register_memory(std::uint64_t address, std::uint64_t length);
    [[nodiscard]] Result<QueuePairIndex> create_queue_pair(const transport::QueuePairAttributes& attributes);
    [[nodiscard]] transport::QueuePairAddress address_of(QueuePairIndex index) const {
        return state_.pairs[index].local;
    }
    [[nodiscard]] Result<void> connect(QueuePairIndex index, const transport::QueuePairAddress& peer);
    [[nodiscard]] transport::HcaCounters counters(std::size_t hca) const { return state_.counters[hca]; }
    /// One line for error reports: who talks to whom, where both directions stand, and what went wrong.
    [[nodiscard]] std::string describe(QueuePairIndex index) const;

    // --- data path
    std::size_t post(std::span<const transport::WorkRequest> requests);
    std::size_t post_receive(std::span<const transport::ReceiveRequest> requests);
    std::size_t poll(std::span<transport::Completion> out) { return state_.completions.poll(out); }

    /// Time for what follows.
    void set_time(Instant now) { state_.now = now; }
    /// Rings the alarms that were due at `until`, now or before: silence counts as loss for what was sent so long
    /// before that. The caller has taken in all that arrived.
    void ring_alarms(Instant until);
    /// Whether build() may have something to build.
    [[nodiscard]] bool wants_to_send() const { return !state_.owing.empty() || !state_.ready.empty(); }
    /// Takes received frames apart. The buffers stay the caller's, and may be freed afterwards.
    void receive(std::span<const wire::Frame> frames);
    /// Fills free buffers with frames to send: a prefix of `frames`, whose length it returns. What is owed goes first,
    /// then queue pairs by turns.
    std::size_t build(std::span<wire::Frame> frames);
    /// The earliest time at which there is something to do though no frame came.
    [[nodiscard]] Instant deadline() const { return state_.timers.next(); }

private:
    static constexpr std::uint32_t kFirstSlot = 2;  // QPN 0 and 1 are special in InfiniBand

    void receive(const wire::Frame& frame);
    [[nodiscard]] bool receive_quickly(const wire::Frame& frame);
    void receive_in_full(const wire::Frame& frame);
    [[nodiscard]] wire::Frame whole(const wire::Frame& frame);
    void dispatch(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame);
    [[nodiscard]] bool find(std::uint32_t qpn, QueuePairIndex& index) const;
    [[nodiscard]] transport::HcaCounters& counters_of(const wire::MacAddress& mac);
    bool accept_ack(QueuePairIndex index, const wire::Frame& frame);
    void learn_ack(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame);

    HcaState state_;
    Requester requester_;
    Responder responder_;
    std::uint32_t slot_mask_ = 0;  // low bits of a QPN: the slot, common to all HCAs; high bits: the HCA
    std::uint32_t slot_bits_ = 0;
    std::vector<std::byte> scratch_;  // one frame; where frames are gathered
};

}  // namespace gradstorm::roce
