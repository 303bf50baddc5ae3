// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/wire/address.h"

#include <cstdint>
#include <vector>

namespace gradstorm::roce {

/// What the payload of a frame is.
enum class PayloadMode : std::uint8_t {
    /// The run's constant payload, which the port's buffers already hold (synthetic_payload.h). Neither end touches it:
    /// memory regions are address ranges that are checked and counted. The ICRC on the wire is right; a receiver checks
    /// it against the headers it got and the constant payload.
    synthetic,
    /// Copied from local memory into frames and from frames into remote memory; the ICRC is computed and checked over
    /// every byte.
    memory,
};

struct SoftwareHcaConfig {
    std::vector<wire::HcaAddress> addresses;  ///< the emulated HCAs; queue pairs name them by index
    PayloadMode payload = PayloadMode::synthetic;
    std::uint64_t payload_seed = 1;  ///< of synthetic_payload(); the port's pool was made with the same
    bool gathered = false;           ///< the port's frames are (wire/gathered_frame.h); needs synthetic payload
    std::uint32_t turn_frames =
        16;  ///< a queue pair sends at most so many before the next one's turn; 8 to 32 are fast
    Nanoseconds cnp_interval{4'000};  ///< at most one CNP a queue pair in this time (a common adapter default)
    std::uint8_t cnp_dscp = 48;       ///< CNPs travel in their own class, by convention CS6
};

}  // namespace gradstorm::roce
