// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How the processes of a run meet: exchange of queue pair addresses, barriers, and the news that one of them is gone.
namespace gradstorm::cluster {

/// What every process put in, by node.
using Blobs = std::vector<std::string>;

/// One process's end. From the control thread alone; no call blocks. Exchanges are collective: every process begins the
/// same phases in the same order, one at a time.
///
/// Errors of all calls: peer (a process is lost, or gave up), named with node, process, host and phase. After the first
/// error every further call returns it again.
class Rendezvous {
public:
    Rendezvous() = default;
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;
    virtual ~Rendezvous() = default;

    [[nodiscard]] virtual std::uint32_t node() const = 0;
    [[nodiscard]] virtual std::uint32_t nodes() const = 0;

    /// Puts this process's blob into the exchange. `phase` is for messages and is compared between the processes.
    [[nodiscard]] virtual Result<void> begin(std::string_view phase, std::string blob) = 0;
    /// Moves data. The blobs of all nodes once all have arrived; empty before. Also to be called between exchanges: it
    /// is how the loss of a peer shows.
    [[nodiscard]] virtual Result<std::optional<Blobs>> poll() = 0;
    /// For how long nothing was heard of the quietest of the processes that this one talks to; a process that calls
    /// poll() is heard of every quarter of a second.
    [[nodiscard]] virtual Nanoseconds silence() const = 0;
    /// Tells the others that this process gives up, and why. Best effort.
    virtual void abandon(std::string_view reason) = 0;
};

/// begin() and poll() until done, sleeping in between: for set-up, when nothing else has to be looked after.
/// Errors: also timeout, naming the phase.
[[nodiscard]] Result<Blobs> exchange(Rendezvous& rendezvous, std::string_view phase, std::string blob,
                                     Nanoseconds timeout);

/// The rendezvous of a run in one process.
class LocalRendezvous final : public Rendezvous {
public:
    [[nodiscard]] std::uint32_t node() const override { return 0; }
    [[nodiscard]] std::uint32_t nodes() const override { return 1; }
    [[nodiscard]] Result<void> begin(std::string_view phase, std::string blob) override;
    [[nodiscard]] Result<std::optional<Blobs>> poll() override;
    [[nodiscard]] Nanoseconds silence() const override { return Nanoseconds{0}; }
    void abandon(std::string_view) override {}

private:
    std::optional<Blobs> pending_;
};

}  // namespace gradstorm::cluster
