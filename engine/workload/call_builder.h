// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/workload/workload.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradstorm::workload {

/// The largest run: as many addresses as emulated HCAs have (wire::emulated_hca_address), rounded up to a power of two.
inline constexpr std::uint32_t kMostRanks = 131'072;

/// Completes calls with what [library] says: channels, chunk, fidelity; and resolves their groups. Profiles and
/// imported traces both go through here, so that a call means the same wherever it came from.
class CallBuilder {
public:
    /// `ranks`: of the run. Refuses more than kMostRanks, and library settings that this version cannot follow:
    /// fidelity "nccl", algorithms other than "auto" and "ring", protocols other than "auto" and "simple".
    [[nodiscard]] static Result<CallBuilder> make(const profiles::LibrarySettings& library, std::uint32_t ranks);

    /// `group`: ranks of the run, empty: all of them. The call's root, from and to are ranks of the group, as in NCCL
    /// and MPI. Refuses groups that are no set of at least two ranks of the run, calls that have no schedule, and those
    /// whose messages are longer than InfiniBand's. The label is the caller's to fill in.
    [[nodiscard]] Result<PlannedCall> build(collective::Call call, std::span<const std::uint32_t> group,
                                            Nanoseconds gap) const;

private:
    std::uint32_t ranks_ = 0;
    std::uint32_t channels_ = 1;
    Bytes chunk_{};
    collective::Fidelity fidelity_ = collective::Fidelity::messages;
};

/// "8 B", "64 KiB", "102228128 B": the largest binary unit that holds the size in whole numbers.
[[nodiscard]] std::string size_text(Bytes size);

}  // namespace gradstorm::workload
