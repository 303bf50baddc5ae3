// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/fabric/heap_fabric.h"
#include "engine/fabric/impaired_port.h"
#include "engine/roce/software_hca.h"
#include "engine/transport/endpoint.h"
#include "engine/wire/address.h"
#include "engine/wire/frame_codec.h"
#include "engine/wire/icrc.h"
#include "engine/wire/synthetic_payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::roce::test {

using transport::Completion;
using transport::CompletionKind;
using transport::CompletionStatus;
using transport::MemoryRegion;
using transport::Opcode;
using transport::QueuePairAttributes;
using transport::QueuePairIndex;
using transport::ReceiveRequest;
using transport::WorkRequest;

using ImpairedPort = fabric::ImpairedPort<fabric::HeapPort>;

/// A port that looks at every frame on its way out: its ICRC against wire::icrc() over the whole frame, and a digest of
/// the trace.
class WatchedPort {
public:
    explicit WatchedPort(ImpairedPort& inner) : inner_(&inner) {}

    std::size_t allocate(std::span<wire::Frame> out) { return inner_->allocate(out); }
    std::size_t receive(std::span<wire::Frame> out) { return inner_->receive(out); }
    void free(std::span<const wire::Frame> frames) { inner_->free(frames); }
    [[nodiscard]] std::size_t room() const { return inner_->room(); }
    Instant advance(Instant now) {
        now_ = now;
        return inner_->advance(now);
    }
    std::size_t send(std::span<const wire::Frame> frames) {
        for (const wire::Frame& frame : frames) look_at(frame);  // before a fault may change it
        const std::size_t sent = inner_->send(frames);
        EXPECT_EQ(sent, frames.size()) << "the software HCA builds no more than there is room for";
        return sent;
    }

    bool check_icrc = true;
    bool keep_digest = false;
    std::uint64_t wrong_icrc = 0;
    std::uint64_t frame_count = 0;
    std::uint64_t digest = 0xCBF2'9CE4'8422'2325U;
    std::function<void(const wire::DecodedFrame&)> observe;

private:
    void look_at(const wire::Frame& frame) {
        ++frame_count;
        if (check_icrc && !wire::verify_icrc({frame.data(), frame.length})) ++wrong_icrc;
        if (keep_digest) {
            mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
            mix(frame.length);
            mix(wire::get_icrc(frame.data() + frame.length - wire::kIcrcSize));  // stands for all that it covers
        }
        if (observe) {
            const auto decoded = wire::decode({frame.data(), frame.length});
            if (decoded) observe(*decoded);
        }
    }
    void mix(std::uint64_t value) { digest = (digest ^ value) * 0x0000'0100'0000'01B3U; }

    ImpairedPort* inner_;
    Instant now_{};
};
static_assert(wire::FramePort<WatchedPort>);

struct RigOptions {
    wire::PayloadMode payload = wire::PayloadMode::memory;
    std::uint64_t seed = 1;
    fabric::Impairment impairment{};
    std::size_t buffers = 2048;
    std::size_t egress_frames = 512;
    Nanoseconds latency{1'000};
    double line_rate = 400e9;
    bool ipv6 = false;
};

/// Two software HCAs on a fabric in virtual time, behind ports with faults. Side 0 and side 1 each have `kMemory` bytes
/// of memory, registered whole.
class Rig {
public:
    static constexpr std::size_t kMemory = std::size_t{4} << 20U;

    explicit Rig(const RigOptions& options = {})
        : payload_(wire::synthetic_payload(7)), fabric_(fabric_options(options)) {
        for (std::size_t side = 0; side < 2; ++side) sides_.push_back(std::make_unique<Side>(*this, side, options));
    }

    struct Side {
        Side(Rig& rig, std::size_t number, const RigOptions& options)
            : network(rig.fabric_.port(number), {.seed = options.seed * 2 + number,
                                                 .spare_payload = options.payload == wire::PayloadMode::synthetic}),
              port(network),
              hca({.addresses = {address(number, options.ipv6)}, .payload = options.payload, .payload_seed = 7}, port),
              memory(kMemory) {
            rig.fabric_.attach(address(number, options.ipv6).mac, number);
            network.impair_all(options.impairment);
            for (std::size_t i = 0; i < memory.size(); ++i) {
                memory[i] = static_cast<std::byte>((i * 2654435761U >> 13U) + number * 101);
            }
            // Synthetic memory is never touched: a fixed address makes frames the same from run to run.
            base = options.payload == wire::PayloadMode::memory ? reinterpret_cast<std::uint64_t>(memory.data())
                                                                : 0x1'0000'0000U * (number + 1);
            region = *hca.register_memory(at(0), memory.size());
        }
        [[nodiscard]] std::uint64_t at(std::size_t offset) const { return base + offset; }
        ImpairedPort network;
        WatchedPort port;
        SoftwareHca<WatchedPort> hca;
        std::vector<std::byte> memory;
        std::uint64_t base = 0;
        MemoryRegion region;
        std::vector<Completion> completions;
    };

    static wire::HcaAddress address(std::size_t number, bool ipv6) {
        wire::HcaAddress address = wire::emulated_hca_address(static_cast<std::uint32_t>(number));
        if (ipv6) address.ip = *wire::parse_ip("2001:db8::" + std::to_string(number + 1));
        return address;
    }

    Side& side(std::size_t number) { return *sides_[number]; }

    /// A connected pair of queue pairs, with the same index on both sides.
    QueuePairIndex connect(const QueuePairAttributes& a, const QueuePairAttributes& b) {
        const QueuePairIndex first = *side(0).hca.create_queue_pair(a);
        const QueuePairIndex second = *side(1).hca.create_queue_pair(b);
        EXPECT_EQ(first, second);
        EXPECT_TRUE(side(0).hca.connect(first, side(1).hca.address_of(second)));
        EXPECT_TRUE(side(1).hca.connect(second, side(0).hca.address_of(first)));
        return first;
    }
    QueuePairIndex connect(const QueuePairAttributes& attributes = {}) { return connect(attributes, attributes); }

    /// One round at the present time, or a jump to the earliest deadline. Returns false when nothing will ever happen.
    bool step() {
        StepResult result;
        for (auto& side : sides_) {
            result = merge(result, side->hca.step(now_));
            Completion out[64];
            while (const std::size_t count = side->hca.poll(out)) {
                side->completions.insert(side->completions.end(), out, out + count);
            }
        }
        if (result.worked) return true;
        if (result.deadline == kNoDeadline) return false;
        if (result.deadline > now_) now_ = result.deadline;
        return true;
    }

    /// Until `done`, until everything is quiet, or until the virtual time limit. Returns whether `done`.
    bool run_until(const std::function<bool()>& done, Nanoseconds limit = std::chrono::seconds{20}) {
        const Instant end = now_ + limit;
        while (!done()) {
            if (!step() || now_ > end) return done();
        }
        return true;
    }
    void run_until_quiet(Nanoseconds limit = std::chrono::seconds{20}) {
        run_until([] { return false; }, limit);
    }

    [[nodiscard]] Instant now() const { return now_; }
    [[nodiscard]] std::size_t buffers_missing(std::size_t number, std::size_t buffers) const {
        return buffers - fabric_.free_buffers(number);
    }

    /// A WRITE of side 0's bytes [offset, offset + length) to the same place of side 1.
    WorkRequest write(QueuePairIndex qp, std::uint64_t id, std::size_t offset, std::uint32_t length,
                      Opcode opcode = Opcode::write) {
        return {.id = id,
                .local_address = side(0).at(offset),
                .remote_address = side(1).at(offset),
                .length = length,
                .local_key = side(0).region.local_key,
                .remote_key = side(1).region.remote_key,
                .immediate = static_cast<std::uint32_t>(id) ^ 0xA5A5'0000U,
                .queue_pair = qp,
                .opcode = opcode};
    }
    bool post(const WorkRequest& request, std::size_t number = 0) { return side(number).hca.post({&request, 1}) == 1; }
    bool post_receive(std::size_t number, const ReceiveRequest& request) {
        return side(number).hca.post_receive({&request, 1}) == 1;
    }
    [[nodiscard]] bool equal(std::size_t offset, std::size_t length) {
        return std::memcmp(side(0).memory.data() + offset, side(1).memory.data() + offset, length) == 0;
    }

private:
    fabric::HeapFabricOptions fabric_options(const RigOptions& options) const {
        return {.ports = 2,
                .line_rate = {options.line_rate},
                .latency = options.latency,
                .buffers = options.buffers,
                .egress_frames = options.egress_frames,
                .payload = options.payload == wire::PayloadMode::synthetic ? std::span<const std::byte>{payload_}
                                                                           : std::span<const std::byte>{}};
    }

    wire::SyntheticPayload payload_;
    fabric::HeapFabric fabric_;
    std::vector<std::unique_ptr<Side>> sides_;
    Instant now_{};
};

inline std::vector<CompletionStatus> statuses(const std::vector<Completion>& completions) {
    std::vector<CompletionStatus> all;
    for (const Completion& completion : completions) all.push_back(completion.status);
    return all;
}

}  // namespace gradstorm::roce::test
