// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/wire/address.h"
#include "profiles/profile.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradstorm::app {

/// The ranks on each [[port]] of the profile, in its order: those of a node go round the ports of the node.
/// Errors: invalid_input (a rank whose node has no port).
[[nodiscard]] Result<std::vector<std::vector<std::uint32_t>>> ranks_by_port(const profiles::Profile& profile,
                                                                            std::span<const std::uint32_t> ranks);

/// The IP address of each of the ranks on a port: the port's own counted up, or emulated ones where it has none.
/// Errors: invalid_input (the count leaves the port's subnet).
[[nodiscard]] Result<std::vector<wire::IpAddress>> addresses_on_port(const profiles::PortSettings& port,
                                                                     std::span<const std::uint32_t> ranks);

/// Ports count up on their own, so two of them can come to the same address: an error, invalid_input, naming both.
/// Looks at the ranks of every node.
[[nodiscard]] Result<void> check_addresses_differ(const profiles::Profile& profile, std::uint32_t ranks);

}  // namespace gradstorm::app
