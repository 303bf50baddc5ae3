// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/cluster/rendezvous.h"
#include "engine/replay/driver.h"
#include "engine/replay/worker.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradstorm::replay {

/// How a segment ended.
enum class Ending : std::uint8_t {
    running,
    finished,   ///< every rank of every process
    stalled,    ///< no progress for the stall timeout
    failed,     ///< a queue pair failed, or the protocol of messages was broken
    peer_lost,  ///< another process is gone or gave up
    aborted,    ///< the user wants out
};

/// Looks after one segment from the control thread: are all ranks done, does anything still move, did a queue pair
/// fail, is another process gone, does the user want to stop. Time in which a declared compute gap runs is no
/// standstill. Once its own ranks are done a process waits for the others as long as they show that they live: each
/// knows best whether its ranks still move.
class Watchdog {
public:
    struct Settings {
        Nanoseconds stall_timeout{};
        Nanoseconds stop_timeout{};
        const std::atomic<int>* stop = nullptr;
        std::string phase;  ///< of the exchange at the end
    };
    Watchdog(Settings settings, const std::vector<std::unique_ptr<Worker>>& workers, cluster::Rendezvous& rendezvous)
        : settings_(std::move(settings)), workers_(&workers), rendezvous_(&rendezvous) {}

    [[nodiscard]] MonitorResult look(Instant now);
    [[nodiscard]] Ending ending() const { return ending_; }
    /// Of peer_lost.
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    MonitorResult end(Ending ending) {
        ending_ = ending;
        return {.done = true, .deadline = kNoDeadline};
    }
    bool peers_done();
    void note_progress(Instant now);
    [[nodiscard]] bool wants_abort(Instant now);

    Settings settings_;
    const std::vector<std::unique_ptr<Worker>>* workers_;
    cluster::Rendezvous* rendezvous_;
    Ending ending_ = Ending::running;
    std::optional<Error> error_;
    std::uint64_t progress_ = ~std::uint64_t{0};
    Instant active_at_{};  ///< when something last moved or computed
    std::optional<Instant> stop_since_;
    std::optional<Instant> finished_at_;  ///< our own ranks
};

}  // namespace gradstorm::replay
