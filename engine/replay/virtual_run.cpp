// SPDX-License-Identifier: Apache-2.0
#include "engine/replay/virtual_run.h"

#include "engine/fabric/heap_fabric.h"
#include "engine/fabric/impaired_port.h"
#include "engine/replay/virtual_driver.h"
#include "engine/roce/software_hca.h"
#include "engine/wire/address.h"
#include "engine/wire/synthetic_payload.h"

#include <algorithm>
#include <utility>

namespace gradstorm::replay {

namespace {

using Port = fabric::ImpairedPort<fabric::HeapPort>;
using Endpoint = roce::SoftwareHca<Port>;

std::uint32_t worker_of(std::uint32_t rank, std::uint32_t workers) { return rank % workers; }

fabric::HeapFabricOptions fabric_options(const VirtualRunOptions& options, std::uint32_t workers,
                                         const wire::SyntheticPayload& payload) {
    return {.ports = workers,
            .line_rate = options.line_rate,
            .latency = options.latency,
            .buffers = options.port_buffers,
            .egress_frames = options.port_buffers / 4,
            .payload = payload};
}

}  // namespace

struct VirtualRun::Parts {
    Parts(const VirtualRunOptions& options, std::uint32_t workers, const wire::SyntheticPayload& payload)
        : fabric(fabric_options(options, workers, payload)) {}

    fabric::HeapFabric fabric;
    std::vector<std::unique_ptr<Port>> ports;  ///< by worker
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    cluster::LocalRendezvous rendezvous;
    VirtualDriver driver;
    std::unique_ptr<Session> session;
};

VirtualRun::VirtualRun(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
VirtualRun::~VirtualRun() = default;

Result<std::unique_ptr<VirtualRun>> VirtualRun::create(const workload::Workload& workload,
                                                       const VirtualRunOptions& options, SessionObserver* observer) {
    const std::uint32_t workers = std::clamp(options.workers, 1U, std::max(workload.ranks, 1U));
    const std::uint64_t seed = options.session.seed;
    auto parts = std::make_unique<Parts>(options, workers, wire::synthetic_payload(seed));
    SessionOptions session = options.session;
    session.ranks.clear();

    std::vector<roce::SoftwareHcaConfig> configs(workers);
    for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
        const std::uint32_t worker = worker_of(rank, workers);
        const wire::HcaAddress address = wire::emulated_hca_address(rank);
        session.ranks.push_back({0, worker, static_cast<std::uint32_t>(configs[worker].addresses.size())});
        configs[worker].addresses.push_back(address);
        parts->fabric.attach(address.mac, worker);
    }
    std::vector<transport::Endpoint*> endpoints;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        const bool synthetic = session.payload == Payload::synthetic;
        configs[worker].payload = synthetic ? wire::PayloadMode::synthetic : wire::PayloadMode::memory;
        configs[worker].payload_seed = seed;
        parts->ports.push_back(std::make_unique<Port>(
            parts->fabric.port(worker),
            fabric::ImpairedPortOptions{
                .seed = seed + worker, .held_frames = options.port_buffers / 2, .spare_payload = synthetic}));
        parts->ports.back()->impair_all(options.impair_all);
        parts->endpoints.push_back(std::make_unique<Endpoint>(configs[worker], *parts->ports.back()));
        endpoints.push_back(parts->endpoints.back().get());
    }
    auto made = Session::create(session, {.workload = &workload,
                                          .endpoints = endpoints,
                                          .rendezvous = &parts->rendezvous,
                                          .driver = &parts->driver,
                                          .observer = observer});
    if (!made) return tl::unexpected(made.error());
    parts->session = std::move(*made);
    std::unique_ptr<VirtualRun> run(new VirtualRun(std::move(parts)));
    for (const auto& [rank, impairment] : options.impair) run->impair(rank, impairment);
    return run;
}

SessionReport VirtualRun::run() { return parts_->session->run(); }

void VirtualRun::impair(std::uint32_t rank, const fabric::Impairment& impairment) {
    const auto workers = static_cast<std::uint32_t>(parts_->ports.size());
    parts_->ports[worker_of(rank, workers)]->impair(wire::emulated_hca_address(rank).mac, impairment);
}

Instant VirtualRun::now() const { return parts_->driver.now(); }

std::uint64_t VirtualRun::dropped_frames() const {
    std::uint64_t dropped = 0;
    for (const auto& port : parts_->ports) dropped += port->counters().dropped;
    return dropped;
}

}  // namespace gradstorm::replay
