// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/rendezvous.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

namespace gradstorm::cluster {

Result<Blobs> exchange(Rendezvous& rendezvous, std::string_view phase, std::string blob, Nanoseconds timeout) {
    if (auto begun = rendezvous.begin(phase, std::move(blob)); !begun) return tl::unexpected(begun.error());
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (true) {
        auto polled = rendezvous.poll();
        if (!polled) return tl::unexpected(polled.error());
        if (*polled) return std::move(**polled);
        if (std::chrono::steady_clock::now() >= deadline) {
            return failure(ErrorCode::timeout,
                           fmt::format("not all processes reached phase {} within {} ms, see what the others print",
                                       phase, std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
        }
        std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
}

Result<void> LocalRendezvous::begin(std::string_view, std::string blob) {
    pending_ = Blobs{std::move(blob)};
    return {};
}

Result<std::optional<Blobs>> LocalRendezvous::poll() { return std::exchange(pending_, std::nullopt); }

}  // namespace gradstorm::cluster
