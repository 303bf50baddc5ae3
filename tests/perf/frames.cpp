// SPDX-License-Identifier: Apache-2.0
// PERF frames-4096 and frames-1024: valid RoCEv2 frames a second that one core makes and sends into net_null: 64 queue
// pairs, 1,024 buffers in turn, burst 32. Every frame is a WRITE with its own PSN, address, queue pair, UDP source port
// and ICRC; bursts alternate between two message sizes, the path MTU and one that is 64 bytes shorter. Anchor:
// dpdk-testpmd, txonly, frames of the larger size.
#include "engine/flow/stream.h"
#include "engine/transport/dpdk/eal.h"
#include "engine/transport/dpdk/ethdev_port.h"
#include "engine/wire/icrc.h"
#include "tests/perf/perf_line.h"
#include "tests/perf/testpmd_anchor.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradstorm::perf {
namespace {

namespace dpdk = transport::dpdk;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBurst = 32;
constexpr std::size_t kBursts = 400'000;
using Burst = std::array<wire::Frame, kBurst>;
constexpr std::size_t kRounds = 5;
constexpr std::size_t kHeaders = 70;
constexpr std::size_t kInFlight = 32;  // bursts

template <class T>
T require(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

flow::StreamSettings settings_of(std::uint32_t path_mtu, std::uint32_t message) {
    flow::StreamSettings settings;
    settings.headers.ip.source = *wire::parse_ip("198.18.0.1");
    settings.headers.ip.destination = *wire::parse_ip("198.18.0.2");
    settings.path_mtu = path_mtu;
    settings.message_bytes = message;
    for (std::uint32_t i = 0; i < 64; ++i) {
        settings.queue_pairs.push_back({.qpn = 0x100 + i, .first_psn = i * 7919, .source_port = 0xC000});
    }
    settings.source_port_step = 1;
    settings.remote_key = 77;
    return settings;
}

/// Port, streams and the loop over them.
class Sender {
public:
    explicit Sender(std::uint32_t path_mtu)
        : checksum_(wire::PayloadMode::synthetic, 1),
          port_(require(dpdk::EthdevPort::open({.device = "net_null0",
                                                .path_mtu = path_mtu,
                                                .send_buffers = 2048,
                                                .payload = checksum_.constant_payload()}))),
          streams_{require(flow::Stream::create(settings_of(path_mtu, path_mtu), checksum_)),
                   require(flow::Stream::create(settings_of(path_mtu, path_mtu - 64), checksum_))} {
        for (Burst& burst : ring_) {  // all but the last are in flight at the start
            allocate(burst);
            if (&burst != &ring_.back()) build(burst);
        }
        next_ = ring_.size() - 1;
    }

    /// Millions of frames a second.
    double rate() {
        const auto start = Clock::now();
        for (std::size_t i = 0; i < kBursts; ++i) {
            send(oldest());
            allocate(oldest());
            build(advance());
        }
        return static_cast<double>(kBursts * kBurst) / micros_since(start);
    }

    /// What the stages cost alone, in nanoseconds a frame; a reading of the clock around each burst is inside.
    std::string stages() {
        std::array<double, 3> micros{};
        for (std::size_t i = 0; i < kBursts; ++i) {
            const auto start = Clock::now();
            send(oldest());
            const auto sent = Clock::now();
            allocate(oldest());
            const auto allocated = Clock::now();
            build(advance());
            micros[0] += std::chrono::duration<double, std::micro>(allocated - sent).count();
            micros[1] += micros_since(allocated);
            micros[2] += std::chrono::duration<double, std::micro>(sent - start).count();
        }
        const auto frames = static_cast<double>(kBursts * kBurst);
        std::array<char, 128> text{};
        std::snprintf(text.data(), text.size(), "allocate %.1f, headers and ICRC %.1f, burst %.1f ns a frame",
                      micros[0] * 1e3 / frames, micros[1] * 1e3 / frames, micros[2] * 1e3 / frames);
        return text.data();
    }

    void require_valid_frames() {
        for (std::size_t i = 0; i < 4 * kInFlight; ++i) {
            send(oldest());
            allocate(oldest());
            const Burst& burst = build(advance());
            for (const wire::Frame& frame : burst) {
                if (!wire::verify_icrc({frame.data(), frame.length})) throw std::runtime_error("a frame is not valid");
            }
        }
    }

private:
    static double micros_since(Clock::time_point start) {
        return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    }
    // The burst to be built next was allocated while the one before was built: its lines are on their way meanwhile.
    // The place behind it has the oldest of the bursts that an adapter would hold.
    Burst& oldest() { return ring_[(next_ + 1) % ring_.size()]; }
    Burst& advance() {
        Burst& burst = ring_[next_];
        next_ = (next_ + 1) % ring_.size();
        return burst;
    }
    void allocate(Burst& burst) {
        if (port_->allocate(burst) != burst.size()) throw std::runtime_error("no buffers left");
    }
    const Burst& build(Burst& burst) {
        streams_[next_ % 2].build(burst);
        return burst;
    }
    void send(const Burst& burst) {
        if (port_->send(burst) != burst.size()) throw std::runtime_error("net_null refused frames");
    }

    wire::FrameChecksum checksum_;
    std::unique_ptr<dpdk::EthdevPort> port_;
    std::array<flow::Stream, 2> streams_;
    std::array<Burst, kInFlight + 1> ring_{};  // built and not yet sent, and the next
    std::size_t next_ = 0;
};

std::vector<Round> measure(std::uint32_t path_mtu) {
    if (auto started = dpdk::start_eal({.memory_mb = 256}); !started) {
        throw std::runtime_error(started.error().message);
    }
    Sender sender(path_mtu);
    sender.require_valid_frames();
    static_cast<void>(sender.rate());  // warm-up
    std::fprintf(stderr, "frames-%u: %s\n", path_mtu, sender.stages().c_str());
    return interleave(
        kRounds, [&] { return sender.rate(); },
        [&] { return testpmd_txonly_mpps(kHeaders + path_mtu + wire::kIcrcSize); });
}

}  // namespace
}  // namespace gradstorm::perf

int main(int argc, char** argv) {
    using namespace gradstorm::perf;
    return run(argc, argv, {{"frames-4096", "Mframe/s", [] { return measure(4096); }}, {"frames-1024", "Mframe/s", [] {
                                                                                            return measure(1024);
                                                                                        }}});
}
