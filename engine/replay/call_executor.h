// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ring.h"
#include "base/time.h"
#include "engine/collective/schedule.h"
#include "engine/measure/histogram.h"
#include "engine/memory/compute_engine.h"
#include "engine/replay/connection.h"
#include "engine/replay/posting_queue.h"
#include "engine/replay/program.h"
#include "engine/replay/wait_report.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradstorm::replay {

/// Steps the streams of one rank through one call at a time. Passive, never blocks: advance() does what credits,
/// dependencies and queues allow now and returns.
///
/// - Receive ops are granted ahead, in order, as far as their dependencies, the slots and the window allow; an op has
///   completed when all of its bytes have landed.
/// - A send op is posted when its dependencies hold, the peer has granted its place and the send queue has room; it has
///   completed when it is acknowledged.
/// - Local ops go to the ComputeEngine.
/// - Ops complete in the order of their stream, whatever the order of their completions.
class CallExecutor {
public:
    struct Environment {
        std::span<SendConnection> sends;
        std::span<ReceiveConnection> receives;
        PostingQueue* posting = nullptr;
        memory::ComputeEngine* compute = nullptr;
        std::uint64_t compute_id = 0;  ///< id of compute jobs: this + channel
        std::uint32_t channels = 1;    ///< the largest number of channels of a call
        std::uint32_t window = 64;     ///< ops of a stream under way
    };
    explicit CallExecutor(const Environment& environment);

    void launch(RankCall& call);
    /// Whether anything moved.
    bool advance(Instant now);
    [[nodiscard]] bool done() const { return open_streams_ == 0; }

    // What arrived. `now` is the time of the step.
    void data_landed(std::uint32_t connection, Instant now);
    void credit_arrived(std::uint32_t connection, std::uint32_t immediate, Instant now);
    void send_acknowledged(std::uint32_t connection, Instant now);
    void credit_acknowledged(std::uint32_t connection) { ++environment_.receives[connection].queue.completed; }
    void local_completed(std::uint32_t channel);

    /// Posts credits that are owed, as far as there is room. Whether any was posted.
    bool send_credits();
    /// Whether the last advance() left something undone for want of room that no completion will announce.
    [[nodiscard]] bool starved() const { return starved_; }
    /// Nothing is under way: all sends and credits acknowledged.
    [[nodiscard]] bool quiet() const;

    void report_waits(std::uint32_t rank, std::vector<WaitFor>& waits) const;
    void record_latency(measure::Histogram* histogram) { latency_ = histogram; }
    /// Ops completed and messages moved since the start of the run.
    [[nodiscard]] std::uint64_t progress() const { return progress_; }

private:
    struct Outstanding {
        std::uint32_t connection = 0;
        std::uint32_t step = 0;
        std::uint64_t message = 0;  ///< number on its connection (local: whether it empties a slot)
    };
    struct Stream {
        explicit Stream(std::uint32_t window) : outstanding(window) {}
        collective::Cursor* cursor = nullptr;
        collective::Op op;  ///< the next one, valid while `more`
        bool more = false;
        bool open = false;
        std::uint64_t completed = 0;
        std::uint32_t cached_peer = 0;
        const PeerLink* cached_link = nullptr;
        Ring<Outstanding> outstanding;
    };

    [[nodiscard]] bool ready(const collective::Op& op) const;
    static const PeerLink& link_of(Stream& stream, const std::vector<PeerLink>& links);
    void fetch(Stream& stream) { stream.more = stream.cursor->next(stream.op); }
    void complete_front(Stream& stream);
    void close_if_at_end(Stream& stream);

    bool advance_receive(std::uint32_t channel);
    bool advance_local(std::uint32_t channel);
    bool advance_send(std::uint32_t channel, Instant now);
    void grant(Stream& stream, const PeerLink& link);
    void post_data(Stream& stream, const PeerLink& link, Instant now);
    bool start_local(Stream& stream, std::uint32_t channel);

    Environment environment_;
    RankCall* call_ = nullptr;
    std::uint32_t channels_ = 0;  ///< of the call
    std::vector<Stream> streams_;
    std::uint32_t open_streams_ = 0;
    std::vector<std::uint32_t> owing_;  ///< receive connections that owe a credit
    measure::Histogram* latency_ = nullptr;
    bool starved_ = false;
    std::uint64_t progress_ = 0;
};

}  // namespace gradstorm::replay
