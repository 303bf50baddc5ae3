// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/collective/schedule.h"
#include "engine/memory/pattern.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What one rank does in one job, prepared before the run: the calls with all addresses, connections and expectations
/// looked up. Nothing is allocated or searched for later.
namespace gradstorm::replay {

/// Addresses of the buffers of one call on one rank.
struct CallBuffers {
    std::uint64_t source = 0;
    std::uint64_t result = 0;
    std::uint64_t work = 0;

    [[nodiscard]] std::uint64_t of(collective::Place place) const {
        switch (place) {
            case collective::Place::source: return source;
            case collective::Place::result: return result;
            case collective::Place::work: return work;
            case collective::Place::slot:
            case collective::Place::none: break;
        }
        return 0;
    }
};

/// The connection to (or from) one peer on one channel.
struct PeerLink {
    std::uint32_t peer = 0;        ///< group-local, as in collective::Op
    std::uint32_t connection = 0;  ///< index into the executor's send or receive connections
    CallBuffers buffers;           ///< of the peer; of send links only
};

/// A part of a result and what it must hold.
struct Expectation {
    std::uint64_t address = 0;
    std::uint64_t offset = 0;  ///< of the part in the result buffer, for messages
    std::uint64_t length = 0;
    const memory::Pattern* pattern = nullptr;
    std::uint64_t phase = 0;
};

/// One call from the point of view of one of its ranks.
struct RankCall {
    const collective::Schedule* schedule = nullptr;
    std::string label;
    std::uint32_t index = 0;  ///< of the call in its measurement, over all jobs
    Nanoseconds gap{0};
    CallBuffers own;
    std::uint64_t result_length = 0;
    std::vector<std::unique_ptr<collective::Cursor>> cursors;  ///< by stream
    std::vector<std::vector<PeerLink>> send_links;             ///< by channel, ascending peers
    std::vector<std::vector<PeerLink>> receive_links;
    std::vector<Expectation> expectations;  ///< empty: no memory payload
};

/// The calls of one rank in one iteration of one job of one measurement.
struct RankProgram {
    bool overlap = false;
    std::vector<RankCall> calls;
    std::unique_ptr<RankCall> barrier;  ///< between checked iterations; empty where nothing is checked
};

/// Which iterations of a repetition are checked.
enum class Checking : std::uint8_t { none, last, all };

/// One stretch of the run: the warm-up or one repetition of a measurement.
struct Segment {
    std::uint32_t measurement = 0;
    std::uint32_t repetition = 0;
    std::uint32_t iterations = 0;
    bool measured = false;  ///< false: warm-up
    Checking checking = Checking::none;
};

}  // namespace gradstorm::replay
