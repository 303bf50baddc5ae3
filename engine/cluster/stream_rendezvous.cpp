// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/stream_rendezvous.h"

#include "engine/cluster/message_stream.h"
#include "engine/cluster/unix_socket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gradstorm::cluster {

namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds{1};
/// How long a last word may take to leave.
constexpr auto kFarewell = std::chrono::milliseconds{200};
constexpr auto kAliveInterval = std::chrono::milliseconds{250};

std::string who_am_i() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    return fmt::format("pid {}, {}", getpid(), host.data());
}

/// The process at the other end.
struct Peer {
    std::uint32_t node = 0;
    std::string who;
    MessageStream stream;
    bool said_goodbye = false;
    SteadyClock::time_point heard_at = SteadyClock::now();
};

std::string name_of(const Peer& peer) { return fmt::format("node {} ({})", peer.node, peer.who); }

std::string list_of(const std::set<std::uint32_t>& nodes) { return fmt::format("{}", fmt::join(nodes, ", ")); }

Error meeting_error(std::string text) { return {ErrorCode::peer, std::move(text)}; }

void flush_for_a_while(MessageStream& stream) {
    const auto limit = SteadyClock::now() + kFarewell;
    for (stream.flush(); !stream.flushed() && SteadyClock::now() < limit; stream.flush()) {
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace

struct StreamRendezvous::State {
    std::filesystem::path path;
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    int listener = -1;
    std::vector<Peer> peers;  ///< of node 0: all others; of the others: node 0
    std::string phase = "setup";
    bool exchanging = false;
    /// Of the exchange under way, by node. One may come early, before this process has begun the phase.
    struct Blob {
        std::string phase;
        std::string bytes;
    };
    std::vector<std::optional<Blob>> blobs;
    std::optional<Blobs> finished;  ///< the result of the last exchange, until poll() has handed it out
    std::optional<Error> error;
    SteadyClock::time_point next_alive = SteadyClock::now();

    ~State() {
        if (listener < 0) return;
        close(listener);
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }

    Result<void> gather(SteadyClock::time_point limit);
    Result<void> approach(SteadyClock::time_point limit);
    Result<void> welcome(MessageStream stream, const Message& hello);
    void take(Peer& from, Message message);
    void lose(const Peer& peer);
    void give_up(Error why);
    void tell_all(const Message& message);
    void say_alive();
    [[nodiscard]] bool complete() const {
        return exchanging && std::all_of(blobs.begin(), blobs.end(), [](const auto& blob) { return blob.has_value(); });
    }
    void compare_phases();
    void finish_exchange();
};

/// Node 0 waits for everybody else.
Result<void> StreamRendezvous::State::gather(SteadyClock::time_point limit) {
    auto opened = listen_at(path);
    if (!opened) return tl::unexpected(opened.error());
    listener = *opened;
    std::vector<MessageStream> strangers;
    while (peers.size() + 1 < nodes) {
        auto accepted = accept_from(listener);
        if (!accepted) return tl::unexpected(accepted.error());
        if (*accepted) strangers.emplace_back(**accepted);
        for (auto stranger = strangers.begin(); stranger != strangers.end();) {
            const auto hello = stranger->receive();
            if (hello) {
                if (auto ok = welcome(std::move(*stranger), *hello); !ok) return ok;
            } else if (stranger->ended().empty()) {
                ++stranger;
                continue;
            }
            stranger = strangers.erase(stranger);
        }
        if (SteadyClock::now() >= limit) {
            std::set<std::uint32_t> missing;
            for (std::uint32_t n = 1; n < nodes; ++n) missing.insert(n);
            for (const Peer& peer : peers) missing.erase(peer.node);
            return failure(ErrorCode::timeout, fmt::format("node {} did not come to {}: start it, or see why it ended",
                                                           list_of(missing), path.string()));
        }
        std::this_thread::sleep_for(kPause);
    }
    const std::string me = who_am_i();
    for (Peer& peer : peers) peer.stream.send({MessageKind::hello, 0, std::to_string(nodes), me});
    return {};
}

Result<void> StreamRendezvous::State::welcome(MessageStream stream, const Message& hello) {
    const auto known = [&](const Peer& peer) { return peer.node == hello.number; };
    std::string refusal;
    if (hello.kind != MessageKind::hello || hello.name != std::to_string(nodes)) {
        refusal = fmt::format("node {} ({}) expects {} nodes, node 0 expects {}", hello.number, hello.body, hello.name,
                              nodes);
    } else if (hello.number == 0 || hello.number >= nodes || std::any_of(peers.begin(), peers.end(), known)) {
        refusal = fmt::format("two processes say that they are node {}, or there is no such node", hello.number);
    }
    if (!refusal.empty()) {
        stream.send({MessageKind::gone, 0, "setup", refusal});
        flush_for_a_while(stream);
        tell_all({MessageKind::gone, 0, "setup", refusal});
        return tl::unexpected(meeting_error(refusal));
    }
    peers.push_back({.node = hello.number, .who = hello.body, .stream = std::move(stream)});
    return {};
}

/// The others find node 0.
Result<void> StreamRendezvous::State::approach(SteadyClock::time_point limit) {
    const auto late = [&] {
        return failure(ErrorCode::timeout,
                       fmt::format("node 0 does not answer at {}: start it, or see why it ended", path.string()));
    };
    std::optional<int> connected;
    while (!connected) {
        auto attempt = connect_to(path);
        if (!attempt) return tl::unexpected(attempt.error());
        connected = *attempt;
        if (connected) break;
        if (SteadyClock::now() >= limit) return late();
        std::this_thread::sleep_for(kPause);
    }
    peers.push_back({.node = 0, .who = "not yet met", .stream = MessageStream(*connected)});
    Peer& zero = peers.back();
    zero.stream.send({MessageKind::hello, node, std::to_string(nodes), who_am_i()});
    while (true) {
        if (const auto answer = zero.stream.receive()) {
            if (answer->kind == MessageKind::gone) return tl::unexpected(meeting_error(answer->body));
            zero.who = answer->body;
            return {};
        }
        if (!zero.stream.ended().empty()) {
            return tl::unexpected(meeting_error(
                fmt::format("node 0 at {} went away in phase setup: {}", path.string(), zero.stream.ended())));
        }
        if (SteadyClock::now() >= limit) return late();
        std::this_thread::sleep_for(kPause);
    }
}

void StreamRendezvous::State::tell_all(const Message& message) {
    for (Peer& peer : peers) {
        if (peer.stream.ended().empty()) peer.stream.send(message);
    }
}

void StreamRendezvous::State::say_alive() {
    const auto now = SteadyClock::now();
    if (now < next_alive) return;
    next_alive = now + kAliveInterval;
    tell_all({MessageKind::alive, node, phase, {}});
}

void StreamRendezvous::State::give_up(Error why) {
    if (error) return;
    error = std::move(why);
    if (node == 0) tell_all({MessageKind::gone, 0, phase, error->message});
}

void StreamRendezvous::State::lose(const Peer& peer) {
    const std::string how = peer.stream.ended() == "closed" ? "" : fmt::format(" ({})", peer.stream.ended());
    const std::string_view why = peer.said_goodbye ? "it ended its run" : "it was killed or crashed";
    give_up({ErrorCode::peer, fmt::format("{} is lost in phase {}{}: {}", name_of(peer), phase, how, why)});
}

void StreamRendezvous::State::take(Peer& from, Message message) {
    from.heard_at = SteadyClock::now();
    switch (message.kind) {
        case MessageKind::put:
        case MessageKind::all: {
            const std::uint32_t whose = message.kind == MessageKind::put ? from.node : message.number;
            if (whose < nodes) blobs[whose] = Blob{std::move(message.name), std::move(message.body)};
            return;
        }
        case MessageKind::gone: {
            const std::string text =
                node == 0 ? fmt::format("{} gave up: {}", name_of(from), message.body) : std::move(message.body);
            give_up({ErrorCode::peer, text});
            return;
        }
        case MessageKind::goodbye: from.said_goodbye = true; return;
        case MessageKind::hello:
        case MessageKind::alive: return;
    }
}

/// A blob of another phase means that the processes do not do the same things in the same order.
void StreamRendezvous::State::compare_phases() {
    for (std::uint32_t whose = 0; exchanging && whose < nodes; ++whose) {
        if (!blobs[whose] || blobs[whose]->phase == phase) continue;
        give_up({ErrorCode::peer,
                 fmt::format("node {} is in phase {} while node {} is in phase {}: do both run the same profile and "
                             "version",
                             whose, blobs[whose]->phase, node, phase)});
    }
}

void StreamRendezvous::State::finish_exchange() {
    exchanging = false;
    finished.emplace();
    for (auto& blob : blobs) finished->push_back(std::move(std::exchange(blob, std::nullopt)->bytes));
    for (std::uint32_t whose = 0; node == 0 && whose < nodes; ++whose) {
        tell_all({MessageKind::all, whose, phase, (*finished)[whose]});
    }
}

StreamRendezvous::StreamRendezvous(std::unique_ptr<State> state) : state_(std::move(state)) {}

StreamRendezvous::~StreamRendezvous() {
    for (Peer& peer : state_->peers) {
        if (!peer.stream.ended().empty()) continue;
        peer.stream.send({MessageKind::goodbye, state_->node, state_->phase, {}});
        flush_for_a_while(peer.stream);
    }
}

Result<std::unique_ptr<StreamRendezvous>> StreamRendezvous::join(const std::filesystem::path& path, std::uint32_t node,
                                                                 std::uint32_t nodes, Nanoseconds timeout) {
    if (node >= nodes) {
        return failure(ErrorCode::invalid_input, fmt::format("node {} of {}: nodes count from 0", node, nodes));
    }
    auto state = std::make_unique<State>();
    state->path = path;
    state->node = node;
    state->nodes = nodes;
    state->blobs.resize(nodes);
    const auto limit = SteadyClock::now() + timeout;
    if (auto met = node == 0 ? state->gather(limit) : state->approach(limit); !met) {
        return tl::unexpected(met.error());
    }
    return std::unique_ptr<StreamRendezvous>(new StreamRendezvous(std::move(state)));
}

std::uint32_t StreamRendezvous::node() const { return state_->node; }
std::uint32_t StreamRendezvous::nodes() const { return state_->nodes; }

Result<void> StreamRendezvous::begin(std::string_view phase, std::string blob) {
    State& state = *state_;
    if (state.error) return tl::unexpected(*state.error);
    state.phase = phase;
    state.exchanging = true;
    if (state.node != 0) {
        // What node 0 answers holds our own blob too.
        state.peers.front().stream.send({MessageKind::put, state.node, state.phase, std::move(blob)});
        return {};
    }
    state.blobs[0] = State::Blob{state.phase, std::move(blob)};
    return {};
}

Result<std::optional<Blobs>> StreamRendezvous::poll() {
    State& state = *state_;
    if (state.error) return tl::unexpected(*state.error);
    state.say_alive();
    for (Peer& peer : state.peers) {
        peer.stream.flush();
        while (auto message = peer.stream.receive()) state.take(peer, std::move(*message));
    }
    state.compare_phases();
    // A peer that has left after its blob arrived is no loss of this exchange.
    for (const Peer& peer : state.peers) {
        if (!state.complete() && !state.finished && !peer.stream.ended().empty()) state.lose(peer);
    }
    if (state.error) {
        for (Peer& peer : state.peers) flush_for_a_while(peer.stream);
        return tl::unexpected(*state.error);
    }
    if (state.complete()) state.finish_exchange();
    // Nobody may call poll() again for a while: what others wait for has to be on its way first.
    const bool sent = std::all_of(state.peers.begin(), state.peers.end(), [](const Peer& peer) {
        return peer.stream.flushed() || !peer.stream.ended().empty();
    });
    if (!sent) return std::nullopt;
    return std::exchange(state.finished, std::nullopt);
}

Nanoseconds StreamRendezvous::silence() const {
    Nanoseconds longest{0};
    for (const Peer& peer : state_->peers) {
        longest = std::max<Nanoseconds>(longest, SteadyClock::now() - peer.heard_at);
    }
    return longest;
}

void StreamRendezvous::abandon(std::string_view reason) {
    State& state = *state_;
    if (!state.error) {
        state.tell_all({MessageKind::gone, state.node, state.phase,
                        state.node == 0
                            ? fmt::format("node 0 ({}) gave up in phase {}: {}", who_am_i(), state.phase, reason)
                            : std::string(reason)});
        state.error = Error{ErrorCode::peer, std::string(reason)};
    }
    for (Peer& peer : state.peers) flush_for_a_while(peer.stream);
}

}  // namespace gradstorm::cluster
