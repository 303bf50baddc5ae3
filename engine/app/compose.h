// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/fabric/impairment.h"
#include "engine/transport/endpoint.h"
#include "engine/transport/port_statistics.h"
#include "engine/wire/capture_writer.h"
#include "profiles/profile.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The one place that chooses back ends: from what a profile says about transport and ports to endpoints.
namespace gradstorm::app {

/// Where a rank of this process lives.
struct Placement {
    std::uint32_t rank = 0;
    std::uint32_t worker = 0;  ///< index into Composition::endpoints
    std::uint32_t hca = 0;     ///< of that endpoint
};

/// The frames that a tap has seen, on their way to a file.
struct CaptureTap {
    std::string what;  ///< for people: "worker 0 (ranks 0 2)"
    std::function<Result<std::size_t>(wire::CaptureWriter&)> drain;
    std::function<std::uint64_t()> lost;
};

/// What can be asked of the port under an endpoint when the run is over.
struct PortAccount {
    std::string what;  ///< for people: "worker 0 (ranks 0 2)"
    std::function<transport::PortStatistics()> statistics;
    std::function<fabric::ImpairmentCounters()> faults;  ///< empty: none are injected
};

/// Endpoints, ready to have queue pairs made on them. Members are destroyed last to first: endpoints before the
/// network that they stand on.
struct Composition {
    std::shared_ptr<void> network;
    std::vector<std::unique_ptr<transport::Endpoint>> endpoints;  ///< one a worker
    std::vector<Placement> placements;                            ///< of the ranks of this process, ascending
    std::string engine;                                           ///< "dpdk, embedded fabric"
    std::vector<std::string> disclosures;                         ///< what is emulated or not modelled
    bool network_is_emulated = true;  ///< no frame leaves this host: the generator is the network, too
    std::optional<CaptureTap> capture;
    std::vector<PortAccount> ports;  ///< one a worker
};

/// Brings up the transport of the profile for the ranks of `node`, or of every node when it is empty.
/// Errors: unsupported (this build has no packet engine), device, invalid_input.
[[nodiscard]] Result<Composition> compose(const profiles::Profile& profile, std::uint32_t ranks,
                                          std::optional<std::uint32_t> node);

/// Workers that a run of `local_ranks` ranks gets: what the profile asks for, at most one a rank; without a wish, one a
/// usable core.
[[nodiscard]] std::uint32_t worker_count(const profiles::Profile& profile, std::uint32_t local_ranks);

/// Name and version of the back ends in this build.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> back_end_versions();

}  // namespace gradstorm::app
