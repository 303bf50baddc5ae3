// SPDX-License-Identifier: Apache-2.0
#include "engine/app/meeting.h"

#include "engine/cluster/stream_rendezvous.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace gradstorm::app {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr Nanoseconds kPatience = std::chrono::seconds{30};

}  // namespace

Result<std::unique_ptr<cluster::Rendezvous>> meet(const std::string& address, std::uint32_t node, std::uint32_t nodes) {
    if (!address.starts_with(kUnix) || address.size() == kUnix.size()) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("--rendezvous {}: not an address; it is unix:PATH", address));
    }
    auto joined = cluster::StreamRendezvous::join(address.substr(kUnix.size()), node, nodes, kPatience);
    if (!joined) return tl::unexpected(joined.error());
    return std::move(*joined);
}

}  // namespace gradstorm::app
