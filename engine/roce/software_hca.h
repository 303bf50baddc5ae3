// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/roce/hca_core.h"
#include "engine/transport/endpoint.h"
#include "engine/wire/frame_port.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gradstorm::roce {

/// A RoCEv2 HCA in software on a frame port: reliable connections of one worker, for any number of emulated HCA
/// addresses. It reads no clock, allocates nothing once its queue pairs exist, and moves only in step().
///
/// The port must outlive it. In synthetic mode the buffers that it allocates hold
/// wire::synthetic_payload(config.payload_seed) behind the payload anchor.
template <wire::FramePort Port>
class SoftwareHca final : public transport::Endpoint {
public:
    SoftwareHca(const SoftwareHcaConfig& config, Port& port) : core_(config), port_(port) {}
    ~SoftwareHca() override { port_.free(std::span<const wire::Frame>{stock_.data(), stocked_}); }

    [[nodiscard]] std::size_t hca_count() const override { return core_.hca_count(); }
    [[nodiscard]] Result<transport::MemoryRegion> register_memory(std::uint64_t address,
                                                                  std::uint64_t length) override {
        return core_.register_memory(address, length);
    }
    [[nodiscard]] Result<transport::QueuePairIndex> create_queue_pair(
        const transport::QueuePairAttributes& attributes) override {
        return core_.create_queue_pair(attributes);
    }
    [[nodiscard]] transport::QueuePairAddress address_of(transport::QueuePairIndex queue_pair) const override {
        return core_.address_of(queue_pair);
    }
    [[nodiscard]] Result<void> connect(transport::QueuePairIndex queue_pair,
                                       const transport::QueuePairAddress& peer) override {
        return core_.connect(queue_pair, peer);
    }
    [[nodiscard]] transport::HcaCounters counters(std::size_t hca) const override { return core_.counters(hca); }
    [[nodiscard]] std::string describe(transport::QueuePairIndex queue_pair) const override {
        return core_.describe(queue_pair);
    }

    std::size_t post(std::span<const transport::WorkRequest> requests) override { return core_.post(requests); }
    std::size_t post_receive(std::span<const transport::ReceiveRequest> requests) override {
        return core_.post_receive(requests);
    }
    std::size_t poll(std::span<transport::Completion> out) override { return core_.poll(out); }

    /// At most one burst in and one burst out; what arrived comes before the alarms.
    StepResult step(Instant now) override {
        const Instant port_deadline = port_.advance(now);
        core_.set_time(now);
        bool worked = false;
        const std::size_t received = port_.receive(arrivals_);
        if (received > 0) {
            const std::span<const wire::Frame> frames{arrivals_.data(), received};
            core_.receive(frames);
            port_.free(frames);
            worked = true;
        }
        if (core_.deadline() <= now && ring_due_alarms(now, received < arrivals_.size())) worked = true;
        if (core_.wants_to_send() && send() > 0) worked = true;
        return {worked, std::min(core_.deadline(), port_deadline)};
    }

private:
    static constexpr std::size_t kBurst = 32;
    enum class Mark : std::uint8_t { none, set, passed };
    static constexpr std::size_t kMostFullBursts = 64;  // received with alarms due before they ring all the same

    /// Rings the alarms for which silence means loss. An acknowledgement may still wait among what arrived, and, where
    /// the port can tell, what we sent may not even have been taken by its receiver: its thread was kept from running.
    /// Neither is loss.
    bool ring_due_alarms(Instant now, bool drained) {
        if (!drained && ++full_bursts_ < kMostFullBursts) return false;
        full_bursts_ = 0;
        Instant until = now;
        if constexpr (wire::MarksDeliveries<Port>) {
            if (!answers_would_be_here(now)) return false;
            until = marked_at_;  // what was sent later has not been looked after
        }
        core_.ring_alarms(until);
        return true;
    }

    /// The receivers have taken what we had sent when the mark was set, they had time to answer, and since then we have
    /// once received all there was.
    bool answers_would_be_here(Instant now) {
        switch (mark_) {
            case Mark::none:
                port_.mark_deliveries();
                marked_at_ = now;
                mark_ = Mark::set;
                [[fallthrough]];
            case Mark::set:
                if (port_.deliveries_passed()) mark_ = Mark::passed;
                return false;
            case Mark::passed: mark_ = Mark::none; return true;
        }
        return false;
    }

    /// Room is asked for before anything is built, so that what is built is taken: nothing to undo.
    std::size_t send() {
        const std::size_t wanted = std::min(kBurst, port_.room());
        if (stocked_ < wanted) {
            const std::span<wire::Frame> empty{stock_.data() + stocked_, wanted - stocked_};
            stocked_ += port_.allocate(empty);
        }
        const std::span<wire::Frame> frames{stock_.data(), std::min(wanted, stocked_)};
        const std::size_t built = core_.build(frames);
        const std::size_t sent = port_.send(std::span<const wire::Frame>{frames.data(), built});
        if (sent < built) [[unlikely]] {
            port_.free(frames.subspan(sent, built - sent));  // lost, for the protocol
        }
        std::copy(stock_.begin() + static_cast<std::ptrdiff_t>(built),
                  stock_.begin() + static_cast<std::ptrdiff_t>(stocked_), stock_.begin());
        stocked_ -= built;
        return sent;
    }

    HcaCore core_;
    Port& port_;
    std::array<wire::Frame, kBurst> arrivals_{};
    std::array<wire::Frame, kBurst> stock_{};  // free buffers, the first `stocked_`
    std::size_t stocked_ = 0;
    std::size_t full_bursts_ = 0;
    Mark mark_ = Mark::none;
    Instant marked_at_{};
};

}  // namespace gradstorm::roce
