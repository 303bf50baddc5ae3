// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/fabric/impairment.h"
#include "engine/roce/config.h"
#include "engine/transport/dpdk/embedded_fabric.h"
#include "engine/transport/dpdk/ethdev_port.h"
#include "engine/transport/endpoint.h"
#include "engine/transport/port_statistics.h"
#include "engine/wire/address.h"
#include "engine/wire/capture_writer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gradstorm::transport::dpdk {

/// Faults to inject into what one emulated HCA sends.
struct SourceImpairment {
    wire::MacAddress source;
    fabric::Impairment impairment;
};

/// What stands between the software HCA and its port.
struct PortStackOptions {
    /// Frames of every other source suffer `impair_all`. With neither, no fault stage is in the way.
    std::vector<SourceImpairment> impair{};
    fabric::Impairment impair_all{};
    std::uint64_t impairment_seed = 1;
    std::size_t held_frames = 8192;  ///< that wait for their time in the fault stage
    std::size_t capture_frames = 0;  ///< ring of the capture tap; 0: no tap
    std::uint32_t interface = 0;     ///< number of the port in the capture file
};

/// An endpoint with all that belongs to it. The functions may be called as long as the endpoint lives.
struct SoftwareEndpoint {
    std::unique_ptr<transport::Endpoint> endpoint;
    /// Moves captured frames to a file; returns how many. From one thread, the worker's or another.
    std::function<Result<std::size_t>(wire::CaptureWriter&)> drain_capture{};  ///< empty without a tap
    std::function<std::uint64_t()> capture_lost{};                             ///< empty without a tap
    /// What the fault stage did to the frames sent. From the worker, or after the run.
    std::function<fabric::ImpairmentCounters()> impairments{};  ///< empty without faults
    std::function<PortStatistics()> statistics{};               ///< of the port; from the worker, or after the run
};

/// A software HCA on its worker's place in the embedded fabric, which must outlive it. Makes the HCA's addresses known
/// to the fabric: make all endpoints before any of them steps. The tap sees what the HCA sends and receives; faults
/// come behind it, in the network.
/// `hca.gathered` follows from the fabric. Errors: invalid_input (no address, no such worker, real payload on a fabric
/// made for a constant one).
[[nodiscard]] Result<SoftwareEndpoint> make_fabric_endpoint(EmbeddedFabric& fabric, std::size_t worker,
                                                            const roce::SoftwareHcaConfig& hca,
                                                            const PortStackOptions& options = {});

/// A software HCA on an Ethernet port, which it owns from here on.
[[nodiscard]] Result<SoftwareEndpoint> make_ethdev_endpoint(std::unique_ptr<EthdevPort> port,
                                                            const roce::SoftwareHcaConfig& hca,
                                                            const PortStackOptions& options = {});

}  // namespace gradstorm::transport::dpdk
