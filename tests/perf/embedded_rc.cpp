// SPDX-License-Identifier: Apache-2.0
// What the embedded fabric and the software HCA cost: frames a second in one direction, one core each side, synthetic
// payload, checked headers.
#include "engine/measure/clock.h"
#include "engine/transport/dpdk/eal.h"
#include "engine/transport/dpdk/software_endpoint.h"
#include "engine/wire/synthetic_payload.h"
#include "tests/perf/core_pair.h"
#include "tests/perf/net_ring_anchor.h"
#include "tests/perf/perf_line.h"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gradstorm::perf {
namespace {

using namespace std::chrono_literals;
using namespace transport;

constexpr auto kWindow = 200ms;
constexpr std::size_t kQueuePairs = 64;
constexpr std::uint32_t kPathMtu = 4096;
constexpr std::size_t kFrameBytes = 54 + kPathMtu + wire::kIcrcSize;
constexpr std::uint64_t kPayloadSeed = 1;

template <class T>
T require(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}
void require(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().message);
}

std::unique_ptr<dpdk::EmbeddedFabric> make_fabric() {
    require(dpdk::start_eal({.memory_mb = 256}));
    const wire::SyntheticPayload payload = wire::synthetic_payload(kPayloadSeed);
    return require(dpdk::EmbeddedFabric::create({.workers = 2, .payload = payload}));
}

/// Two software HCAs joined by 64 queue pairs; the first writes messages of one size to the second for ever.
class WriteLoad {
public:
    explicit WriteLoad(std::uint32_t message_bytes) : message_bytes_(message_bytes), fabric_(make_fabric()) {
        for (std::uint32_t side = 0; side < 2; ++side) {
            roce::SoftwareHcaConfig config;
            config.addresses = {wire::emulated_hca_address(side)};
            config.payload_seed = kPayloadSeed;
            endpoints_[side] = require(dpdk::make_fabric_endpoint(*fabric_, side, config));
            regions_[side] = require(end(side).register_memory(kMemory, message_bytes));
        }
        for (std::uint32_t i = 0; i < kQueuePairs; ++i) {
            for (std::uint32_t side = 0; side < 2; ++side) {
                QueuePairAttributes attributes;
                attributes.path_mtu = kPathMtu;
                attributes.udp_source_port = static_cast<std::uint16_t>(0xC000 + i);
                attributes.timeout = 100ms;  // a stolen core is not a lost frame
                if (require(end(side).create_queue_pair(attributes)) != i) throw std::runtime_error("not dense");
            }
            require(end(0).connect(i, end(1).address_of(i)));
            require(end(1).connect(i, end(0).address_of(i)));
        }
    }

    double millions_per_second() {
        CorePair::Side sender;
        sender.start = [&] {
            for (QueuePairIndex i = 0; i < kQueuePairs; ++i) owed_.insert(owed_.end(), kOutstanding / kChain, i);
        };
        sender.step = [&] { send_step(); };
        CorePair::Side receiver;
        receiver.step = [&] { end(1).step(clock_.now()); };
        receiver.count = [&] {
            const HcaCounters counters = end(1).counters(0);
            return counters.rx_payload_bytes / kPathMtu;
        };
        const double rate = CorePair::millions_per_second(sender, receiver, kWindow);
        const HcaCounters sent = end(0).counters(0);
        const HcaCounters got = end(1).counters(0);
        if (failed_) throw std::runtime_error("a write failed");
        if (got.rx_icrc_errors + got.rx_discarded_frames + got.rx_out_of_order_frames != 0) {
            throw std::runtime_error("the fabric lost or damaged a frame");
        }
        if (sent.tx_retransmitted_frames > sent.tx_data_frames / 1000) {
            throw std::runtime_error("more than 0.1 % of the frames were sent twice");
        }
        return rate;
    }

private:
    static constexpr std::uint64_t kMemory = 0x10'0000'0000;  // an address range, never touched
    static constexpr std::size_t kOutstanding = 64;           // messages of a queue pair
    // Posted at once, the last of them signalled: perftest signals one in 100 and posts lists as well.
    static constexpr std::size_t kChain = 16;

    Endpoint& end(std::size_t side) { return *endpoints_[side].endpoint; }

    void send_step() {
        std::array<Completion, 64> completions;
        const std::size_t count = end(0).poll(completions);
        for (const Completion& c : std::span{completions}.first(count)) {
            failed_ |= c.status != CompletionStatus::success;
            owed_.push_back(c.queue_pair);
        }
        for (; !owed_.empty(); owed_.pop_back()) {
            std::array<WorkRequest, kChain> chain;
            chain.fill(request(owed_.back()));
            chain.back().signalled = true;
            if (end(0).post(chain) < chain.size()) throw std::runtime_error("a send queue took less than it has");
        }
        end(0).step(clock_.now());
    }

    WorkRequest request(QueuePairIndex queue_pair) const {
        WorkRequest request;
        request.local_address = regions_[0].address;
        request.remote_address = regions_[1].address;
        request.length = message_bytes_;
        request.local_key = regions_[0].local_key;
        request.remote_key = regions_[1].remote_key;
        request.queue_pair = queue_pair;
        request.signalled = false;
        return request;
    }

    std::uint32_t message_bytes_;
    measure::TscClock clock_ = measure::TscClock::calibrate(10ms);
    std::unique_ptr<dpdk::EmbeddedFabric> fabric_;
    std::array<dpdk::SoftwareEndpoint, 2> endpoints_;
    std::array<MemoryRegion, 2> regions_;
    std::vector<QueuePairIndex> owed_;  // chains to post, by queue pair
    bool failed_ = false;
};

/// The fabric alone: header and ICRC written by the sender and read by the receiver.
double raw_fabric_mpps() {
    const auto fabric = make_fabric();
    const wire::MacAddress to = wire::emulated_hca_address(1).mac;
    fabric->attach(to, 1);
    std::array<std::byte, 54> header{};
    std::memcpy(header.data(), to.octets.data(), to.octets.size());
    std::uint64_t number = 0;
    std::uint64_t received = 0;
    std::uint64_t sum = 0;
    CorePair::Side sender;
    sender.step = [&] {
        dpdk::FabricPort& port = fabric->port(0);
        std::array<wire::Frame, 32> frames;
        const std::size_t count = port.allocate(std::span{frames}.first(std::min(port.room(), frames.size())));
        for (wire::Frame& frame : std::span{frames}.first(count)) {
            frame.offset = wire::kPayloadAnchor - 54;
            frame.length = kFrameBytes;
            std::memcpy(frame.data(), header.data(), header.size());
            frame.data()[50] = static_cast<std::byte>(++number);
            std::memset(frame.buffer + wire::kPayloadAnchor, 0x5A, wire::kIcrcSize);
        }
        port.send(std::span{frames}.first(count));
    };
    CorePair::Side receiver;
    receiver.step = [&] {
        std::array<wire::Frame, 32> frames;
        const std::size_t count = fabric->port(1).receive(frames);
        for (const wire::Frame& frame : std::span{frames}.first(count)) {
            sum += std::to_integer<unsigned>(frame.data()[50]) +
                   std::to_integer<unsigned>(frame.buffer[wire::kPayloadAnchor]);
        }
        fabric->port(1).free(std::span{frames}.first(count));
        received += count;
    };
    receiver.count = [&] { return received; };
    const double rate = CorePair::millions_per_second(sender, receiver, kWindow);
    if (sum == 0) throw std::runtime_error("nothing was read");
    return rate;
}

std::vector<Round> against_net_ring(const std::function<double()>& ours) {
    require(dpdk::start_eal({.memory_mb = 256}));
    return interleave(7, ours, [] { return net_ring_mpps(kWindow, kFrameBytes); });
}

std::vector<Round> rc(std::uint32_t message_bytes) {
    return against_net_ring([message_bytes] { return WriteLoad(message_bytes).millions_per_second(); });
}

}  // namespace
}  // namespace gradstorm::perf

int main(int argc, char** argv) {
    using namespace gradstorm::perf;
    return run(argc, argv,
               {{"embedded-rc-1m", "Mframe/s", [] { return rc(1 << 20); }},
                {"embedded-rc-4k", "Mframe/s", [] { return rc(4096); }},
                {"fabric-port", "Mframe/s", [] { return against_net_ring(raw_fabric_mpps); }}});
}
