// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/cluster/rendezvous.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gradstorm::app {

/// Meets the other processes of the run at `address` ("unix:PATH"). Errors: invalid_input (no such kind of address),
/// peer, timeout.
[[nodiscard]] Result<std::unique_ptr<cluster::Rendezvous>> meet(const std::string& address, std::uint32_t node,
                                                                std::uint32_t nodes);

}  // namespace gradstorm::app
