// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "engine/wire/address.h"
#include "engine/wire/frame_checksum.h"

#include <cstdint>
#include <vector>

namespace gradstorm::roce {

struct SoftwareHcaConfig {
    std::vector<wire::HcaAddress> addresses;  ///< the emulated HCAs; queue pairs name them by index
    wire::PayloadMode payload = wire::PayloadMode::synthetic;
    std::uint64_t payload_seed = 1;  ///< of wire::synthetic_payload(); the port's pool was made with the same
    bool gathered = false;           ///< the port's frames are (wire/gathered_frame.h); needs synthetic payload
    std::uint32_t turn_frames =
        16;  ///< a queue pair sends at most so many before the next one's turn; 8 to 32 are fast
    Nanoseconds cnp_interval{4'000};  ///< at most one CNP a queue pair in this time (a common adapter default)
    std::uint8_t cnp_dscp = 48;       ///< CNPs travel in their own class, by convention CS6
};

}  // namespace gradstorm::roce
