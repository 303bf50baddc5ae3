// SPDX-License-Identifier: Apache-2.0
// PERF icrc-delta: frames a second whose PSN, address, length and UDP source port are rewritten and whose ICRC is made
// right by deltas: 17 changed bytes, payload 4096, 64 queue pairs, 1,024 frames in turn as in the ring of an adapter.
// Anchor: the same, with the ICRC computed over the whole frame by the fastest method of this CPU.
#include "engine/wire/frame_codec.h"
#include "engine/wire/header_deltas.h"
#include "engine/wire/icrc.h"
#include "tests/perf/perf_line.h"

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using namespace gradstorm;

constexpr std::size_t kPayload = wire::kMaxPathMtu;
constexpr std::size_t kFrames = 1'024;
constexpr std::size_t kQueuePairs = 64;
constexpr std::size_t kRounds = 7;

struct Fields {
    std::uint32_t psn = 0;
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint16_t source_port = 0;
};

class Ring {
public:
    Ring() : buffers_(kFrames), deltas_(std::make_unique<wire::HeaderDeltas>(kPayload)) {
        wire::FrameHeaders headers;
        headers.ip.source = *wire::parse_ip("198.18.0.1");
        headers.ip.destination = *wire::parse_ip("198.18.0.2");
        headers.bth.opcode = wire::Opcode::write_first;
        for (std::size_t i = 0; i < kFrames; ++i) {
            for (std::size_t b = 0; b < kPayload; ++b) {
                buffers_[i].bytes[wire::kPayloadAnchor + b] = static_cast<std::byte>(b * 31 + b / 256);
            }
            headers.bth.destination_qpn = static_cast<std::uint32_t>(i % kQueuePairs);
            frames_.push_back(wire::encode(headers, kPayload, buffers_[i].bytes.data()));
            write(frames_[i], {});
            bases_[i % kQueuePairs] = wire::icrc(covered(frames_[i]));
        }
    }

    void by_deltas(std::size_t number) {
        const wire::Frame& frame = frames_[number % kFrames];
        const Fields fields = fields_of(number);
        write(frame, fields);
        const std::uint32_t icrc = bases_[number % kQueuePairs] ^ deltas_->field<16, 3>(fields.psn) ^
                                   deltas_->field<8, 8>(fields.address) ^ deltas_->field<0, 4>(fields.length) ^
                                   deltas_->field<kSourcePort, 2>(fields.source_port);
        wire::put_icrc(frame.buffer + wire::kPayloadAnchor + kPayload, icrc);
    }
    void over_all(std::size_t number) {
        const wire::Frame& frame = frames_[number % kFrames];
        write(frame, fields_of(number));
        wire::put_icrc(frame.buffer + wire::kPayloadAnchor + kPayload, wire::icrc(covered(frame)));
    }
    void require_right_icrc() const {
        for (const wire::Frame& frame : frames_) {
            if (!wire::verify_icrc({frame.data(), frame.length})) throw std::runtime_error("wrong ICRC");
        }
    }

private:
    static constexpr std::size_t kSourcePort = wire::HeaderDeltas::source_port_place(wire::kRethSize);

    struct alignas(64) Buffer {
        std::array<std::byte, wire::kFrameBufferSize> bytes{};
    };

    static Fields fields_of(std::size_t number) {
        return {.psn = static_cast<std::uint32_t>(number / kQueuePairs) & 0xFF'FFFFU,
                .address = 0x7F00'0000'0000U + number * kPayload,
                .length = static_cast<std::uint32_t>(kPayload + 1 + number % 1'000'000),
                .source_port = static_cast<std::uint16_t>(0xC000U | (number & 0x3FFFU))};
    }
    static std::span<const std::byte> covered(const wire::Frame& frame) {
        return {frame.data(), frame.length - std::size_t{wire::kIcrcSize}};
    }
    static void write(const wire::Frame& frame, const Fields& fields) {
        std::byte* payload = frame.buffer + wire::kPayloadAnchor;
        wire::store_big<std::uint32_t>(payload - 20, fields.psn);
        wire::store_big<std::uint64_t>(payload - 16, fields.address);
        wire::store_big<std::uint32_t>(payload - 4, fields.length);
        wire::store_big<std::uint16_t>(payload - kSourcePort - 2, fields.source_port);
    }

    std::vector<Buffer> buffers_;
    std::vector<wire::Frame> frames_;
    std::array<std::uint32_t, kQueuePairs> bases_{};
    std::unique_ptr<wire::HeaderDeltas> deltas_;
};

/// Millions of frames a second.
template <class Once>
double rate(std::size_t count, Once&& once) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) once(i);
    benchmark::ClobberMemory();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(count) / took.count();
}

std::vector<perf::Round> measure() {
    Ring ring;
    const auto ours = [&] { return rate(8'000'000, [&](std::size_t i) { ring.by_deltas(i); }); };
    const auto anchor = [&] { return rate(1'000'000, [&](std::size_t i) { ring.over_all(i); }); };
    static_cast<void>(ours());  // warm-up
    ring.require_right_icrc();
    return perf::interleave(kRounds, ours, anchor);
}

}  // namespace

int main(int argc, char** argv) { return perf::run(argc, argv, {{"icrc-delta", "Mframe/s", measure}}); }
