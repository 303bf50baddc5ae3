// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Who waits for whom, gathered when a run stands still, and whose fault it is.
namespace gradstorm::replay {

enum class WaitKind : std::uint8_t {
    credit,           ///< the peer has not granted a landing place
    data,             ///< the peer has not sent what it may send
    acknowledgement,  ///< the peer's HCA has not acknowledged what was sent
};
[[nodiscard]] std::string_view to_string(WaitKind kind);

struct WaitFor {
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;
    std::uint32_t channel = 0;
    std::uint32_t step = 0;
    WaitKind kind = WaitKind::data;
    std::string call;
    Instant last_heard = Instant::min();  ///< when the rank last heard of that peer on the connection
};

/// "rank 3 waits for rank 2, channel 0, step 5 (data) in ddp[0]"
[[nodiscard]] std::string to_string(const WaitFor& wait);

/// The rank that the others wait for in the end:
/// - acknowledgements come from HCAs alone, so ranks at both ends of a missing one are suspects, and the one that most
///   of them share is the silent one;
/// - without missing acknowledgements it is the sink: waited for, but waiting for nobody;
/// - what remains is decided by silence: the one that its waiters have not heard of for the longest time.
/// Empty: nobody waits.
[[nodiscard]] std::optional<std::uint32_t> culprit_of(std::span<const WaitFor> waits);

}  // namespace gradstorm::replay
