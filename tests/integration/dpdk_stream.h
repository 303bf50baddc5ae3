// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/transport/endpoint.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace gradstorm::test {

/// What the two ends of a WRITE stream tell each other before it starts.
struct StreamPeer {
    transport::QueuePairAddress queue_pair;
    transport::MemoryRegion memory;
};

/// One end of a stream of RDMA WRITE WITH IMMEDIATE between two endpoints, on one queue pair, in memory mode: the
/// sender writes message i to its place in the receiver's buffer, the receiver compares every byte.
class WriteStream {
public:
    static constexpr std::size_t kMessages = 64;
    static constexpr std::size_t kMessageBytes = 256 * 1024 + 40;  // the last frame of each is short

    explicit WriteStream(transport::Endpoint& endpoint) : endpoint_(endpoint), memory_(kMessages * kMessageBytes) {}

    /// Registers memory and makes the queue pair; the text is empty or says what failed.
    std::string open(StreamPeer& mine, std::uint32_t initial_psn) {
        const auto address = reinterpret_cast<std::uint64_t>(memory_.data());
        auto region = endpoint_.register_memory(address, memory_.size());
        if (!region) return region.error().message;
        region_ = *region;
        auto made = endpoint_.create_queue_pair(
            {.receive_depth = kMessages, .timeout = std::chrono::milliseconds(20), .initial_psn = initial_psn});
        if (!made) return made.error().message;
        queue_pair_ = *made;
        std::array<transport::ReceiveRequest, kMessages> receives{};
        for (std::size_t i = 0; i < kMessages; ++i) receives[i] = {.id = i, .queue_pair = queue_pair_};
        if (endpoint_.post_receive(receives) != kMessages) return "receives were not taken";
        mine = {endpoint_.address_of(queue_pair_), region_};
        return {};
    }

    std::string connect(const StreamPeer& peer) {
        peer_ = peer;
        const auto connected = endpoint_.connect(queue_pair_, peer.queue_pair);
        return connected ? "" : connected.error().message;
    }

    std::string send() {
        std::mt19937_64 random(42);
        for (std::size_t i = 0; i + 8 <= memory_.size(); i += 8) {
            const std::uint64_t word = random();
            std::memcpy(memory_.data() + i, &word, sizeof word);
        }
        std::vector<transport::WorkRequest> requests;
        for (std::size_t i = 0; i < kMessages; ++i) {
            requests.push_back({.id = i,
                                .local_address = region_.address + i * kMessageBytes,
                                .remote_address = peer_.memory.address + i * kMessageBytes,
                                .length = kMessageBytes,
                                .local_key = region_.local_key,
                                .remote_key = peer_.memory.remote_key,
                                .immediate = static_cast<std::uint32_t>(i),
                                .queue_pair = queue_pair_,
                                .opcode = transport::Opcode::write_with_immediate});
        }
        std::size_t posted = 0;
        return run([&] { posted += endpoint_.post(std::span{requests}.subspan(posted)); },
                   transport::CompletionKind::sent);
    }

    std::string receive() {
        if (auto problem = run([] {}, transport::CompletionKind::received_immediate); !problem.empty()) return problem;
        std::mt19937_64 random(42);
        for (std::size_t i = 0; i + 8 <= memory_.size(); i += 8) {
            std::uint64_t word;
            std::memcpy(&word, memory_.data() + i, sizeof word);
            if (word != random()) return "memory differs at byte " + std::to_string(i);
        }
        return {};
    }

    /// Answers the peer (acknowledgements of what it did not hear of) for a while longer.
    void linger(std::chrono::milliseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < end) {
            if (!endpoint_.step(now()).worked) std::this_thread::yield();
        }
    }

private:
    static Instant now() {
        return Instant{std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())};
    }

    std::string run(const std::function<void()>& post, transport::CompletionKind kind) {
        const auto limit = now() + std::chrono::seconds(15);
        std::size_t completed = 0;
        while (completed < kMessages) {
            post();
            if (!endpoint_.step(now()).worked) std::this_thread::yield();
            std::array<transport::Completion, 16> completions;
            const std::size_t count = endpoint_.poll(completions);
            for (const transport::Completion& c : std::span{completions}.first(count)) {
                if (c.status != transport::CompletionStatus::success) return std::string(to_string(c.status));
                if (c.kind != kind) return "a completion of the wrong kind";
                if (c.kind == transport::CompletionKind::received_immediate && c.immediate != completed) {
                    return "message " + std::to_string(c.immediate) + " instead of " + std::to_string(completed);
                }
                ++completed;
            }
            if (now() > limit) return "no progress after message " + std::to_string(completed);
        }
        return {};
    }

    transport::Endpoint& endpoint_;
    std::vector<std::byte> memory_;
    transport::MemoryRegion region_;
    transport::QueuePairIndex queue_pair_ = 0;
    StreamPeer peer_;
};

}  // namespace gradstorm::test
