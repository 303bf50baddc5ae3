// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collective/symbolic_executor.h"

#include "tests/unit/collective/symbolic_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace gradstorm::collective {

namespace {

std::size_t index_of(Role role) { return static_cast<std::size_t>(role); }

struct Landing {
    Op op;
    bool landed = false;
};

struct Flight {
    Op op;
    Elements content;
    std::uint64_t receive_index = 0;  ///< of the receive it meets, in the peer's receive stream
    bool landed = false;
};

struct Local {
    Op op;
    Elements content;
};

/// The streams of one rank on one channel.
struct Streams {
    std::array<std::unique_ptr<Cursor>, kRoles> cursors;
    std::array<std::optional<Op>, kRoles> head;
    std::array<std::uint64_t, kRoles> completed{};
    std::deque<Landing> landings;  ///< granted, from receive number completed[receive] on
    std::deque<Flight> flights;    ///< posted, from send number completed[send] on
    std::optional<Local> local;

    void pull(Role role) {
        Op op;
        head[index_of(role)] = cursors[index_of(role)]->next(op) ? std::optional{op} : std::nullopt;
    }
    [[nodiscard]] bool idle() const {
        return landings.empty() && flights.empty() && !local &&
               std::none_of(head.begin(), head.end(), [](const auto& op) { return op.has_value(); });
    }
};

/// What the two ends of one (sender, receiver, channel) share.
struct Connection {
    std::deque<std::uint64_t> grants;  ///< receive numbers that the sender may use, in order
    std::deque<Elements> slots;        ///< landed, not reduced yet
    std::uint32_t in_use = 0;
};

class SymbolicRun {
public:
    SymbolicRun(const Schedule& schedule, const SymbolicSettings& settings)
        : schedule_(schedule), call_(schedule.call()), settings_(settings), random_(settings.seed) {
        for (std::uint32_t rank = 0; rank < call_.ranks; ++rank) {
            memory_.emplace_back(call_, rank);
            for (std::uint32_t channel = 0; channel < call_.channels; ++channel) add_streams(rank, channel);
        }
        connections_.resize(std::size_t{call_.ranks} * call_.ranks * call_.channels);
        actual_.resize(call_.ranks);
        sent_.resize(call_.ranks);
    }

    void run() {
        std::uniform_int_distribution<std::size_t> pick(0, streams_.size() * kActions - 1);
        for (;;) {
            bool acted = false;
            for (std::size_t tries = 0; tries < streams_.size() && !acted; ++tries) acted = act(pick(random_));
            // Nothing found by chance: look everywhere once.
            for (std::size_t action = 0; action < streams_.size() * kActions && !acted; ++action) acted = act(action);
            if (!acted) break;
        }
        check_end();
    }

    [[nodiscard]] std::string where() const { return where_; }

private:
    static constexpr std::size_t kActions = 6;

    void add_streams(std::uint32_t rank, std::uint32_t channel) {
        Streams& streams = streams_.emplace_back();
        for (const Role role : {Role::send, Role::receive, Role::local}) {
            streams.cursors[index_of(role)] = schedule_.cursor(rank, channel, role);
            streams.pull(role);
        }
    }

    Streams& streams(std::uint32_t rank, std::uint32_t channel) { return streams_[rank * call_.channels + channel]; }
    Connection& connection(std::uint32_t sender, std::uint32_t receiver, std::uint32_t channel) {
        return connections_[(std::size_t{sender} * call_.ranks + receiver) * call_.channels + channel];
    }
    [[nodiscard]] Region region(Place place, std::uint64_t offset, std::uint64_t length) const {
        const std::uint64_t element = measure::size_of(call_.type);
        if (offset % element != 0 || length % element != 0) throw Fault("not whole elements");
        return {place, offset / element, length / element};
    }

    bool act(std::size_t action) {
        const std::size_t stream = action / kActions;
        const auto rank = static_cast<std::uint32_t>(stream / call_.channels);
        const auto channel = static_cast<std::uint32_t>(stream % call_.channels);
        switch (action % kActions) {
            case 0: return grant(rank, channel);
            case 1: return post(rank, channel);
            case 2: return land(rank, channel);
            case 3: return complete_send(rank, channel);
            case 4: return start_local(rank, channel);
            default: return finish_local(rank, channel);
        }
    }

    /// The next op of the stream, if there is one and what it waits for is done.
    const Op* ready(std::uint32_t rank, std::uint32_t channel, Role role) {
        const auto& head = streams(rank, channel).head[index_of(role)];
        if (!head) return nullptr;
        for (const Dependency& after : head->after) {
            if (after.completed == 0) continue;
            if (streams(rank, after.stream / kRoles).completed[after.stream % kRoles] < after.completed) return nullptr;
        }
        where_ = fmt::format("rank {} channel {} role {} step {}", rank, channel, index_of(role), head->step);
        return &*head;
    }

    bool grant(std::uint32_t rank, std::uint32_t channel) {
        const Op* op = ready(rank, channel, Role::receive);
        if (op == nullptr) return false;
        Connection& link = connection(op->peer, rank, channel);
        if (link.in_use == settings_.slots) return false;
        Streams& own = streams(rank, channel);
        ++link.in_use;
        link.grants.push_back(own.completed[index_of(Role::receive)] + own.landings.size());
        if (op->to != Place::slot) memory_[rank].begin_write(region(op->to, op->to_offset, op->length));
        own.landings.push_back({*op, false});
        own.pull(Role::receive);
        return true;
    }

    bool post(std::uint32_t rank, std::uint32_t channel) {
        const Op* op = ready(rank, channel, Role::send);
        Streams& own = streams(rank, channel);
        if (op == nullptr || own.flights.size() == settings_.send_depth) return false;
        Connection& link = connection(rank, op->peer, channel);
        if (link.grants.empty()) return false;
        const Streams& peer = streams(op->peer, channel);
        const std::uint64_t number = link.grants.front();
        const Op& meets = peer.landings[number - peer.completed[index_of(Role::receive)]].op;
        if (meets.to != op->to || meets.to_offset != op->to_offset || meets.length != op->length ||
            meets.step != op->step || meets.peer != rank) {
            throw Fault("send and receive disagree");
        }
        link.grants.pop_front();
        Elements content = memory_[rank].begin_read(region(op->from, op->from_offset, op->length));
        own.flights.push_back({*op, std::move(content), number, false});
        own.pull(Role::send);
        return true;
    }

    bool land(std::uint32_t rank, std::uint32_t channel) {
        Streams& own = streams(rank, channel);
        const auto flight =
            std::find_if(own.flights.begin(), own.flights.end(), [](const Flight& other) { return !other.landed; });
        if (flight == own.flights.end()) return false;
        flight->landed = true;
        const Op& op = flight->op;
        Connection& link = connection(rank, op.peer, channel);
        if (op.to == Place::slot) {
            link.slots.push_back(flight->content);
        } else {
            memory_[op.peer].end_write(region(op.to, op.to_offset, op.length), flight->content);
            --link.in_use;
        }
        Streams& peer = streams(op.peer, channel);
        std::uint64_t& completed = peer.completed[index_of(Role::receive)];
        peer.landings[flight->receive_index - completed].landed = true;
        for (; !peer.landings.empty() && peer.landings.front().landed; ++completed) {
            actual_[op.peer].bytes_received += Bytes{peer.landings.front().op.length};
            ++actual_[op.peer].messages_received;
            peer.landings.pop_front();
        }
        return true;
    }

    bool complete_send(std::uint32_t rank, std::uint32_t channel) {
        Streams& own = streams(rank, channel);
        if (own.flights.empty() || !own.flights.front().landed) return false;
        const Op& op = own.flights.front().op;
        memory_[rank].end_read(region(op.from, op.from_offset, op.length));
        ++actual_[rank].messages_sent;
        actual_[rank].bytes_sent += Bytes{op.length};
        ++sent_[rank][op.length];
        largest_ = std::max(largest_, op.length);
        own.flights.pop_front();
        ++own.completed[index_of(Role::send)];
        return true;
    }

    bool start_local(std::uint32_t rank, std::uint32_t channel) {
        Streams& own = streams(rank, channel);
        if (own.local) return false;
        const Op* op = ready(rank, channel, Role::local);
        if (op == nullptr) return false;
        Local local{*op, memory_[rank].begin_read(region(op->from, op->from_offset, op->length))};
        if (op->kind == OpKind::reduce) {
            const Connection& link = connection(op->peer, rank, channel);
            if (link.slots.empty()) throw Fault("sum before the message has landed");
            const Elements& slot = link.slots.front();
            if (slot.size() != local.content.size()) throw Fault("sum of different lengths");
            for (std::size_t i = 0; i < slot.size(); ++i) local.content[i] = sum(local.content[i], slot[i]);
            actual_[rank].bytes_reduced += Bytes{op->length};
        }
        memory_[rank].begin_write(region(op->to, op->to_offset, op->length));
        own.local = std::move(local);
        own.pull(Role::local);
        return true;
    }

    bool finish_local(std::uint32_t rank, std::uint32_t channel) {
        Streams& own = streams(rank, channel);
        if (!own.local) return false;
        const Op& op = own.local->op;
        memory_[rank].end_read(region(op.from, op.from_offset, op.length));
        memory_[rank].end_write(region(op.to, op.to_offset, op.length), own.local->content);
        if (op.kind == OpKind::reduce) {
            Connection& link = connection(op.peer, rank, channel);
            link.slots.pop_front();
            --link.in_use;
        }
        own.local.reset();
        ++own.completed[index_of(Role::local)];
        return true;
    }

    void check_end() {
        for (std::uint32_t rank = 0; rank < call_.ranks; ++rank) {
            for (std::uint32_t channel = 0; channel < call_.channels; ++channel) {
                where_ = fmt::format("rank {} channel {}", rank, channel);
                if (!streams(rank, channel).idle()) throw Fault("stuck");
            }
            where_ = fmt::format("rank {}", rank);
            if (memory_[rank].result() != expected_result(call_, rank)) throw Fault("wrong result");
            if (memory_[rank].source() != initial_source(call_, rank)) throw Fault("source changed");
            const Totals claimed = schedule_.totals(rank);
            actual_[rank].steps = claimed.steps;  // not a count of ops
            actual_[rank].largest_message = Bytes{largest_};
            if (actual_[rank] != claimed) throw Fault("totals differ from the ops");
            std::vector<MessageCount> sent;
            for (const auto& [length, count] : sent_[rank]) sent.push_back({length, count});
            if (sent != schedule_.messages(rank)) throw Fault("message counts differ from the ops");
        }
    }

    const Schedule& schedule_;
    const Call call_;
    const SymbolicSettings settings_;
    std::mt19937_64 random_;
    std::vector<RankMemory> memory_;
    std::vector<Streams> streams_;
    std::vector<Connection> connections_;
    std::vector<Totals> actual_;
    std::vector<std::map<std::uint64_t, std::uint64_t>> sent_;  ///< by length
    std::uint64_t largest_ = 0;
    std::string where_;
};

}  // namespace

std::string run_symbolically(const Schedule& schedule, const SymbolicSettings& settings) {
    try {
        SymbolicRun run(schedule, settings);
        try {
            run.run();
        } catch (const Fault& fault) {
            return fmt::format("{}: {}", run.where(), fault.what());
        }
    } catch (const Fault& fault) {
        return fault.what();
    }
    return {};
}

}  // namespace gradstorm::collective
