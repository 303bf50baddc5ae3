// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "engine/fabric/impairment.h"
#include "engine/replay/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gradstorm::replay {

struct VirtualRunOptions {
    SessionOptions session;     ///< `ranks` is filled in: every rank has its own HCA, dealt to workers in turn
    std::uint32_t workers = 1;  ///< each with an endpoint and a port of the fabric
    BitsPerSecond line_rate{100e9};
    Nanoseconds latency{2'000};
    std::uint32_t port_buffers = 4096;
    /// Of every port, by chance with `session.seed`.
    fabric::Impairment impair_all{};
    /// Further faults of single ranks' HCAs, from the start.
    struct RankImpairment {
        std::uint32_t rank = 0;
        fabric::Impairment impairment;
    };
    std::vector<RankImpairment> impair{};
};

/// A whole run in one process and in virtual time: frames on the heap, software HCAs, workers and session. The same
/// options give the same run, frame by frame, on any machine.
class VirtualRun {
public:
    /// The workload must outlive it. `observer` may be null.
    [[nodiscard]] static Result<std::unique_ptr<VirtualRun>> create(const workload::Workload& workload,
                                                                    const VirtualRunOptions& options,
                                                                    SessionObserver* observer = nullptr);
    ~VirtualRun();

    [[nodiscard]] SessionReport run();

    /// From now on the HCA of `rank` suffers this instead; to be called before run() or by an observer.
    void impair(std::uint32_t rank, const fabric::Impairment& impairment);
    [[nodiscard]] Instant now() const;
    /// Frames that injected faults have dropped so far.
    [[nodiscard]] std::uint64_t dropped_frames() const;

private:
    struct Parts;
    explicit VirtualRun(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace gradstorm::replay
