// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/replay/session_state.h"

namespace gradstorm::replay {

/// Builds a session's state, step by step: what must be, memory, queue pairs, exchange, connections, programs.
class SessionSetup {
public:
    explicit SessionSetup(Session::State& state) : state_(&state) {}
    [[nodiscard]] Result<void> run();

private:
    /// The local end of a connection while it is being made.
    struct LocalEnd {
        ConnectionEnd told;  ///< to the others
        transport::QueuePairIndex queue_pair = 0;
        std::uint32_t worker = 0;
        std::uint32_t local_key = 0;
    };
    using EndKey = std::pair<ConnectionName, bool>;  ///< and whether it is the sender's

    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] Result<void> check_memory(const std::map<std::uint32_t, std::uint64_t>& arena_lengths) const;
    [[nodiscard]] Result<void> make_arenas();
    [[nodiscard]] Result<void> make_queue_pairs();
    [[nodiscard]] Result<void> make_queue_pair(const ConnectionName& name, bool sender);
    [[nodiscard]] Result<void> exchange_and_connect();
    [[nodiscard]] Result<void> connect(LocalEnd& local, const ConnectionEnd& peer);
    void make_workers();
    void make_executor(std::uint32_t rank, std::uint32_t job);
    [[nodiscard]] std::vector<SendConnection> send_connections(std::uint32_t rank, std::uint32_t job);
    [[nodiscard]] std::vector<ReceiveConnection> receive_connections(std::uint32_t rank, std::uint32_t job);
    void make_segments();

    [[nodiscard]] std::uint32_t receives_posted() const;
    [[nodiscard]] std::uint32_t jobs() const;

    Session::State* state_;
    std::set<std::uint32_t> local_ranks_;
    ConnectionPlan plan_;
    std::map<ConnectionName, std::uint64_t> slot_offsets_;  ///< in the receiver's arena
    std::map<EndKey, LocalEnd> ends_;
    std::map<EndKey, ConnectionEnd> peers_;
};

/// Writes the programs of one rank and job for all measurements, given its connections.
class ProgramBuilder {
public:
    ProgramBuilder(Session::State& state, std::uint32_t rank, std::uint32_t job,
                   const std::vector<SendConnection>& sends, const std::vector<ReceiveConnection>& receives,
                   const std::map<ConnectionName, std::uint64_t>& peer_arenas);

    [[nodiscard]] std::vector<RankProgram> build();
    [[nodiscard]] std::uint32_t most_channels() const { return most_channels_; }

private:
    [[nodiscard]] RankProgram program(std::uint32_t measurement);
    [[nodiscard]] RankCall call(const collective::Schedule& schedule, const std::vector<std::uint32_t>& group);
    void link(RankCall& call, const std::vector<std::uint32_t>& group, std::uint32_t local);
    void place(RankCall& call, const std::vector<std::uint32_t>& group, std::uint32_t measurement, std::uint32_t index);

    Session::State* state_;
    std::uint32_t rank_;
    std::uint32_t job_;
    std::map<ConnectionName, std::uint32_t> send_index_;
    std::map<ConnectionName, std::uint32_t> receive_index_;
    const std::map<ConnectionName, std::uint64_t>* peer_arenas_;
    std::uint32_t most_channels_ = 1;
};

}  // namespace gradstorm::replay
