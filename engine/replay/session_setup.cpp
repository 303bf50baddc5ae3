// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/session_setup.h"

#include "base/splitmix64.h"
#include "engine/memory/available.h"
#include "engine/memory/sum.h"
#include "engine/replay/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gradstorm::replay {

namespace {

/// Receives posted beyond the slots, so that they can be posted again in batches without ever running out.
constexpr std::uint32_t kSpareReceives = 32;
/// Ops of a stream that may be under way.
constexpr std::uint32_t kLeastWindow = 64;
/// Synthetic arenas: address ranges far apart, never touched.
constexpr std::uint32_t kSyntheticArenaBits = 44;

/// A hash of what names a queue pair: starting PSNs and UDP source ports are spread, and the same for the same
/// seed.
std::uint64_t hash_of(std::uint64_t seed, const ConnectionName& name, bool sender) {
    std::uint64_t x = seed;
    for (const std::uint64_t part : {std::uint64_t{name.job}, std::uint64_t{name.from}, std::uint64_t{name.to},
                                     std::uint64_t{name.channel}, std::uint64_t{sender ? 1U : 0U}}) {
        x = splitmix64(x + part);
    }
    return x;
}

std::string name_of(const ConnectionName& name) {
    return fmt::format("connection from rank {} to rank {}, channel {}", name.from, name.to, name.channel);
}

}  // namespace

Result<void> SessionSetup::run() {
    if (auto ok = check(); !ok) return ok;
    auto schedules = make_schedule_book(state_->workload());
    if (!schedules) return tl::unexpected(schedules.error());
    state_->schedules = std::move(*schedules);
    for (std::uint32_t rank = 0; rank < state_->options.ranks.size(); ++rank) {
        if (state_->is_local(rank)) local_ranks_.insert(rank);
    }
    plan_ = plan_connections(state_->workload(), state_->schedules, local_ranks_);
    state_->layout = std::make_unique<BufferLayout>(state_->workload());
    state_->patterns = std::make_unique<PatternBook>(state_->options.seed);
    make_workers();
    if (auto ok = make_arenas(); !ok) return ok;
    if (auto ok = make_queue_pairs(); !ok) return ok;
    if (auto ok = exchange_and_connect(); !ok) return ok;
    for (const std::uint32_t rank : local_ranks_) {
        for (std::uint32_t job = 0; job < jobs(); ++job) make_executor(rank, job);
    }
    make_segments();
    return {};
}

Result<void> SessionSetup::check() const {
    const SessionOptions& options = state_->options;
    const auto refuse = [](std::string why) { return failure(ErrorCode::invalid_input, std::move(why)); };
    if (options.ranks.size() != state_->workload().ranks) {
        return refuse(fmt::format("{} places for {} ranks", options.ranks.size(), state_->workload().ranks));
    }
    if (options.slots == 0) return refuse("0 landing slots, it takes at least 1");
    if (options.iterations == 0 || options.repetitions == 0) return refuse("nothing to repeat: 0 iterations");
    for (std::size_t rank = 0; rank < options.ranks.size(); ++rank) {
        const RankPlace& place = options.ranks[rank];
        if (place.node >= state_->around.rendezvous->nodes()) {
            return refuse(
                fmt::format("rank {} is on node {} of {}", rank, place.node, state_->around.rendezvous->nodes()));
        }
        if (!state_->is_local(static_cast<std::uint32_t>(rank))) continue;
        if (place.worker >= state_->around.endpoints.size() ||
            place.hca >= state_->around.endpoints[place.worker]->hca_count()) {
            return refuse(fmt::format("rank {} has no hca {} on worker {}", rank, place.hca, place.worker));
        }
    }
    if (options.payload == Payload::synthetic) return {};
    for (const auto& measurement : state_->workload().measurements) {
        for (const auto& job : measurement.jobs) {
            for (const auto& planned : job.calls) {
                if (!reduces(planned.call.kind) || memory::can_sum(planned.call.type)) continue;
                return failure(ErrorCode::unsupported,
                               fmt::format("{}: the host cannot add {}; use float32 or bfloat16, or "
                                           "transport.payload = \"synthetic\"",
                                           planned.label, measure::to_string(planned.call.type)));
            }
        }
    }
    return {};
}

std::uint32_t SessionSetup::jobs() const {
    std::size_t most = 0;
    for (const auto& measurement : state_->workload().measurements) most = std::max(most, measurement.jobs.size());
    return static_cast<std::uint32_t>(most);
}

void SessionSetup::make_workers() {
    for (std::uint32_t i = 0; i < state_->around.endpoints.size(); ++i) {
        if (state_->options.payload == Payload::memory) {
            state_->compute.push_back(std::make_unique<memory::HostCompute>());
        } else {
            state_->compute.push_back(std::make_unique<memory::NullCompute>());
        }
        state_->latency.push_back(std::make_unique<measure::Histogram>());
        state_->workers.push_back(std::make_unique<Worker>(i, *state_->around.endpoints[i], *state_->compute.back()));
        state_->workers.back()->posting().observe(state_->options.tap, i);
    }
}

/// Before any of it is touched.
Result<void> SessionSetup::check_memory(const std::map<std::uint32_t, std::uint64_t>& arena_lengths) const {
    const SessionOptions& options = state_->options;
    MemoryBudget budget{.times = bytes_of_times(state_->workload(), local_ranks_.size(),
                                                std::max(options.iterations, options.warmup), options.repetitions)};
    for (const auto& [rank, length] : arena_lengths) {
        if (options.payload == Payload::memory) budget.buffers += static_cast<double>(length);
    }
    return check_budget(budget, memory::available_memory());
}

Result<void> SessionSetup::make_arenas() {
    std::map<std::uint32_t, std::uint64_t> lengths;
    for (const std::uint32_t rank : local_ranks_) lengths[rank] = state_->layout->length(rank);
    for (const auto& [name, stride] : plan_) {
        if (!local_ranks_.contains(name.to)) continue;
        slot_offsets_[name] = lengths[name.to];
        lengths[name.to] += stride * state_->options.slots;
    }
    if (auto fits = check_memory(lengths); !fits) return fits;
    for (const std::uint32_t rank : local_ranks_) {
        Arena& arena = state_->arenas[rank];
        const std::uint64_t length = std::max<std::uint64_t>(lengths[rank], BufferLayout::kAlignment);
        std::uint64_t address = (std::uint64_t{rank} + 1) << kSyntheticArenaBits;
        if (state_->options.payload == Payload::memory) {
            auto buffer = memory::HostBuffer::allocate(Bytes{length});
            if (!buffer) return tl::unexpected(buffer.error());
            arena.buffer = std::move(*buffer);
            address = arena.buffer.address();
        }
        auto region = state_->around.endpoints[state_->options.ranks[rank].worker]->register_memory(address, length);
        if (!region) return tl::unexpected(region.error());
        arena.region = *region;
        state_->activities[rank] = std::make_unique<Activity>();
    }
    return {};
}

Result<void> SessionSetup::make_queue_pairs() {
    for (const auto& [name, stride] : plan_) {
        for (const bool sender : {true, false}) {
            if (!local_ranks_.contains(sender ? name.from : name.to)) continue;
            if (auto ok = make_queue_pair(name, sender); !ok) return ok;
        }
    }
    return {};
}

std::uint32_t SessionSetup::receives_posted() const {
    return std::max(1U, std::min(state_->options.queue_pair.receive_depth, state_->options.slots + kSpareReceives));
}

Result<void> SessionSetup::make_queue_pair(const ConnectionName& name, bool sender) {
    const std::uint32_t rank = sender ? name.from : name.to;
    const RankPlace& place = state_->options.ranks[rank];
    transport::Endpoint& endpoint = *state_->around.endpoints[place.worker];
    const std::uint64_t hash = hash_of(state_->options.seed, name, sender);
    transport::QueuePairAttributes attributes = state_->options.queue_pair;
    attributes.hca = place.hca;
    attributes.initial_psn = static_cast<std::uint32_t>(hash & 0xFF'FFFFU);
    attributes.udp_source_port = static_cast<std::uint16_t>(0xC000U | ((hash >> 24U) & 0x3FFFU));
    attributes.receive_depth = std::max(attributes.receive_depth, 1U);
    auto made = endpoint.create_queue_pair(attributes);
    if (!made) return failure(made.error().code, fmt::format("{}: {}", name_of(name), made.error().message));

    const Arena& arena = state_->arenas.at(rank);
    LocalEnd& end = ends_[{name, sender}];
    end.queue_pair = *made;
    state_->port_names[rank] = wire::to_string(endpoint.address_of(*made).hca.ip);
    end.worker = place.worker;
    end.local_key = arena.region.local_key;
    end.told = {.name = name,
                .sender = sender,
                .queue_pair = endpoint.address_of(*made),
                .arena = arena.region.address,
                .remote_key = arena.region.remote_key,
                .slots = {}};
    if (!sender) {
        end.told.slots = {arena.region.address + slot_offsets_.at(name), plan_.at(name), state_->options.slots};
    }
    return {};
}

Result<void> SessionSetup::exchange_and_connect() {
    std::vector<ConnectionEnd> told;
    told.reserve(ends_.size());
    for (const auto& [key, end] : ends_) told.push_back(end.told);
    cluster::Rendezvous& rendezvous = *state_->around.rendezvous;
    const auto blobs = cluster::exchange(rendezvous, "connect", encode(told), state_->options.setup_timeout);
    if (!blobs) return tl::unexpected(blobs.error());
    for (const std::string& blob : *blobs) {
        auto ends = decode_connection_ends(blob);
        if (!ends) return tl::unexpected(ends.error());
        for (const ConnectionEnd& end : *ends) peers_[{end.name, end.sender}] = end;
    }
    for (auto& [key, local] : ends_) {
        const auto peer = peers_.find({key.first, !key.second});
        if (peer == peers_.end()) {
            return failure(ErrorCode::peer, fmt::format("{} has no other end: do all processes run the same profile?",
                                                        name_of(key.first)));
        }
        if (auto ok = connect(local, peer->second); !ok) return ok;
    }
    const auto ready = cluster::exchange(rendezvous, "connected", {}, state_->options.setup_timeout);
    if (!ready) return tl::unexpected(ready.error());
    return {};
}

Result<void> SessionSetup::connect(LocalEnd& local, const ConnectionEnd& peer) {
    transport::Endpoint& endpoint = *state_->around.endpoints[local.worker];
    if (auto ok = endpoint.connect(local.queue_pair, peer.queue_pair); !ok) {
        return failure(ok.error().code, fmt::format("{}: {}", name_of(peer.name), ok.error().message));
    }
    const std::uint32_t posted = receives_posted();
    const std::uint32_t batch = posted > state_->options.slots ? posted - state_->options.slots : 1;
    const std::vector<transport::ReceiveRequest> receives(posted, {.queue_pair = local.queue_pair});
    if (endpoint.post_receive(receives) != posted) {
        return failure(ErrorCode::device,
                       fmt::format("{}: the receive queue takes fewer than {} requests", name_of(peer.name), posted));
    }
    state_->workers[local.worker]->posting().add_queue_pair(local.queue_pair, posted, batch);
    return {};
}

std::vector<SendConnection> SessionSetup::send_connections(std::uint32_t rank, std::uint32_t job) {
    std::vector<SendConnection> sends;
    for (const auto& [key, end] : ends_) {
        const auto& [name, sender] = key;
        if (!sender || name.from != rank || name.job != job) continue;
        const ConnectionEnd& peer = peers_.at({name, false});
        SendConnection& send = sends.emplace_back();
        send.name = name;
        send.queue_pair = end.queue_pair;
        send.remote_key = peer.remote_key;
        send.local_key = end.local_key;
        send.slots = peer.slots;
        send.queue.depth = state_->options.queue_pair.send_depth;
        send.posted_at.resize(std::bit_ceil(std::size_t{send.queue.depth}));
    }
    return sends;
}

std::vector<ReceiveConnection> SessionSetup::receive_connections(std::uint32_t rank, std::uint32_t job) {
    std::vector<ReceiveConnection> receives;
    for (const auto& [key, end] : ends_) {
        const auto& [name, sender] = key;
        if (sender || name.to != rank || name.job != job) continue;
        const ConnectionEnd& peer = peers_.at({name, true});
        ReceiveConnection& receive = receives.emplace_back();
        receive.name = name;
        receive.queue_pair = end.queue_pair;
        receive.remote_key = peer.remote_key;
        receive.remote_address = peer.arena;
        receive.slots = end.told.slots;
        receive.queue.depth = state_->options.queue_pair.send_depth;
        receive.lengths.resize(std::bit_ceil(std::size_t{receive.slots.count}));
    }
    return receives;
}

void SessionSetup::make_executor(std::uint32_t rank, std::uint32_t job) {
    RankExecutor::Setup setup;
    setup.rank = rank;
    setup.job = job;
    setup.sends = send_connections(rank, job);
    setup.receives = receive_connections(rank, job);
    std::map<ConnectionName, std::uint64_t> arenas;
    for (const SendConnection& send : setup.sends) arenas[send.name] = peers_.at({send.name, false}).arena;
    ProgramBuilder builder(*state_, rank, job, setup.sends, setup.receives, arenas);
    setup.programs = builder.build();
    const auto has_calls = [](const RankProgram& program) { return !program.calls.empty(); };
    if (std::none_of(setup.programs.begin(), setup.programs.end(), has_calls)) return;  // in no group of the job
    Worker& worker = *state_->workers[state_->options.ranks[rank].worker];
    setup.posting = &worker.posting();
    setup.compute = &worker.compute();
    setup.compute_id = worker.next_compute_id();
    setup.channels = builder.most_channels();
    setup.window = std::max(kLeastWindow, 2 * state_->options.slots);
    setup.poison = &state_->patterns->poison();
    setup.activity = state_->activities.at(rank).get();
    setup.tamper = state_->options.tamper;
    worker.add(std::make_unique<RankExecutor>(std::move(setup)));
}

void SessionSetup::make_segments() {
    const SessionOptions& options = state_->options;
    const Checking checking = options.payload == Payload::memory ? options.checking : Checking::none;
    for (std::uint32_t m = 0; m < state_->workload().measurements.size(); ++m) {
        if (options.warmup != 0) {
            const Checking warmup = checking == Checking::all ? Checking::all : Checking::none;
            state_->segments.push_back({m, 0, options.warmup, false, warmup});
        }
        for (std::uint32_t r = 0; r < options.repetitions; ++r) {
            state_->segments.push_back({m, r, options.iterations, true, checking});
        }
    }
}

}  // namespace gradstorm::replay
