// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cluster/rendezvous.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gradstorm::cluster {

/// The rendezvous of processes that reach one Unix-domain socket: node 0 listens at a path, the others connect to it,
/// and all exchanges go through node 0. A process that is killed is noticed at once: the kernel closes its connection.
class StreamRendezvous final : public Rendezvous {
public:
    /// Meets all `nodes` processes; blocks for at most `timeout`. The socket file belongs to node 0, which removes it
    /// at its end; one left behind by a dead process is taken over. Errors: invalid_input (no such node, a path that
    /// no socket can have), peer (the processes disagree), timeout (naming who is missing).
    [[nodiscard]] static Result<std::unique_ptr<StreamRendezvous>> join(const std::filesystem::path& path,
                                                                        std::uint32_t node, std::uint32_t nodes,
                                                                        Nanoseconds timeout);
    ~StreamRendezvous() override;

    [[nodiscard]] std::uint32_t node() const override;
    [[nodiscard]] std::uint32_t nodes() const override;
    [[nodiscard]] Result<void> begin(std::string_view phase, std::string blob) override;
    [[nodiscard]] Result<std::optional<Blobs>> poll() override;
    [[nodiscard]] Nanoseconds silence() const override;
    void abandon(std::string_view reason) override;

private:
    struct State;
    explicit StreamRendezvous(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gradstorm::cluster
