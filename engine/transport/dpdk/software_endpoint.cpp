// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/software_endpoint.h"

#include "engine/fabric/impaired_port.h"
#include "engine/roce/software_hca.h"
#include "engine/wire/tap_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace gradstorm::transport::dpdk {
namespace {

/// The software HCA on a port, together with the stages in between and, if it is ours, the port: what has to live as
/// long as the HCA.
template <wire::FramePort Port, class Owned>
class StackedEndpoint final : public transport::Endpoint {
public:
    StackedEndpoint(const roce::SoftwareHcaConfig& hca, Port& port, Owned owned)
        : owned_(std::move(owned)), hca_(hca, port) {}

    std::size_t hca_count() const override { return hca_.hca_count(); }
    Result<MemoryRegion> register_memory(std::uint64_t address, std::uint64_t length) override {
        return hca_.register_memory(address, length);
    }
    Result<QueuePairIndex> create_queue_pair(const QueuePairAttributes& attributes) override {
        return hca_.create_queue_pair(attributes);
    }
    QueuePairAddress address_of(QueuePairIndex queue_pair) const override { return hca_.address_of(queue_pair); }
    Result<void> connect(QueuePairIndex queue_pair, const QueuePairAddress& peer) override {
        return hca_.connect(queue_pair, peer);
    }
    HcaCounters counters(std::size_t hca) const override { return hca_.counters(hca); }
    std::string describe(QueuePairIndex queue_pair) const override { return hca_.describe(queue_pair); }
    std::size_t post(std::span<const WorkRequest> requests) override { return hca_.post(requests); }
    std::size_t post_receive(std::span<const ReceiveRequest> requests) override { return hca_.post_receive(requests); }
    std::size_t poll(std::span<Completion> out) override { return hca_.poll(out); }
    StepResult step(Instant now) override { return hca_.step(now); }

private:
    Owned owned_;
    roce::SoftwareHca<Port> hca_;  // first to go: it gives its buffers back
};

template <wire::FramePort Port, class Owned>
std::unique_ptr<transport::Endpoint> endpoint_on(Port& port, const roce::SoftwareHcaConfig& hca, Owned owned) {
    return std::make_unique<StackedEndpoint<Port, Owned>>(hca, port, std::move(owned));
}

using SharedPayload = std::span<const std::byte>;  // of gathered frames; empty: they are whole

/// The tap, if asked for, on `port`, and the HCA on top. `owned` is what has to live as long.
template <wire::FramePort Port, class Owned>
SoftwareEndpoint with_tap(Port& port, const roce::SoftwareHcaConfig& hca, const PortStackOptions& options,
                          SharedPayload shared, Owned owned) {
    if (options.capture_frames == 0) return {.endpoint = endpoint_on(port, hca, std::move(owned))};
    auto tap = std::make_unique<wire::TapPort<Port>>(port, options.capture_frames, options.interface,
                                                     wire::kFrameBufferSize, shared);
    wire::TapPort<Port>* const seen = tap.get();
    SoftwareEndpoint made{.endpoint = endpoint_on(*seen, hca, std::pair(std::move(owned), std::move(tap)))};
    made.drain_capture = [seen](wire::CaptureWriter& writer) { return seen->drain(writer); };
    made.capture_lost = [seen] { return seen->lost(); };
    return made;
}

bool asks_for_faults(const PortStackOptions& options) {
    return options.impair_all.any() ||
           std::ranges::any_of(options.impair, [](const SourceImpairment& one) { return one.impairment.any(); });
}

template <wire::FramePort Port, class Owned>
SoftwareEndpoint with_faults(Port& port, const roce::SoftwareHcaConfig& hca, const PortStackOptions& options,
                             SharedPayload shared, Owned owned) {
    if (!asks_for_faults(options)) return with_tap(port, hca, options, shared, std::move(owned));
    auto faults = std::make_unique<fabric::ImpairedPort<Port>>(
        port, fabric::ImpairedPortOptions{.seed = options.impairment_seed,
                                          .held_frames = options.held_frames,
                                          .spare_payload = hca.payload == wire::PayloadMode::synthetic,
                                          .gathered = hca.gathered});
    fabric::ImpairedPort<Port>* const seen = faults.get();
    seen->impair_all(options.impair_all);
    for (const SourceImpairment& one : options.impair) seen->impair(one.source, one.impairment);
    SoftwareEndpoint made = with_tap(*seen, hca, options, shared, std::pair(std::move(owned), std::move(faults)));
    made.impairments = [seen] { return seen->counters(); };
    return made;
}

}  // namespace

Result<SoftwareEndpoint> make_fabric_endpoint(EmbeddedFabric& fabric, std::size_t worker,
                                              const roce::SoftwareHcaConfig& hca, const PortStackOptions& options) {
    if (worker >= fabric.worker_count()) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("embedded fabric: no worker {}, there are {}", worker, fabric.worker_count()));
    }
    if (hca.addresses.empty()) {
        return failure(ErrorCode::invalid_input, fmt::format("embedded fabric: worker {} has no HCA address", worker));
    }
    roce::SoftwareHcaConfig config = hca;
    config.gathered = !fabric.shared_payload().empty();
    if (config.gathered && hca.payload == wire::PayloadMode::memory) {
        return failure(ErrorCode::invalid_input, "embedded fabric: made for a constant payload, not for memory's");
    }
    for (const wire::HcaAddress& address : hca.addresses) fabric.attach(address.mac, worker);
    FabricPort& port = fabric.port(worker);
    SoftwareEndpoint made = with_faults(port, config, options, fabric.shared_payload(), std::monostate{});
    made.statistics = [&port] { return port.statistics(); };
    return made;
}

Result<SoftwareEndpoint> make_ethdev_endpoint(std::unique_ptr<EthdevPort> port, const roce::SoftwareHcaConfig& hca,
                                              const PortStackOptions& options) {
    if (hca.addresses.empty()) {
        return failure(ErrorCode::invalid_input, fmt::format("device '{}': no HCA address", port->driver()));
    }
    EthdevPort& on = *port;
    SoftwareEndpoint made = with_faults(on, hca, options, {}, std::move(port));
    made.statistics = [&on] { return on.statistics(); };
    return made;
}

}  // namespace gradstorm::transport::dpdk
