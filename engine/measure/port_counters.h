// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/run_result.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace gradstorm::measure {

/// One counter of a port: the name and unit it has in the journal, in the store and in every report.
struct PortCounter {
    std::string_view name;
    std::string_view unit;
    std::uint64_t PortResult::* value;
};

inline constexpr std::array kPortCounters{
    PortCounter{"data_frames", "frames", &PortResult::data_frames},
    PortCounter{"clear_to_send_frames", "frames", &PortResult::clear_to_send_frames},
    PortCounter{"ack_frames", "frames", &PortResult::ack_frames},
    PortCounter{"retransmitted_frames", "frames", &PortResult::retransmitted_frames},
    PortCounter{"cnp_frames", "frames", &PortResult::cnp_frames},
    PortCounter{"wire_bytes", "bytes", &PortResult::wire_bytes},
    PortCounter{"payload_bytes", "bytes", &PortResult::payload_bytes},
    PortCounter{"rx_wire_bytes", "bytes", &PortResult::rx_wire_bytes},
    PortCounter{"rx_payload_bytes", "bytes", &PortResult::rx_payload_bytes},
    PortCounter{"ecn_marked_frames", "frames", &PortResult::ecn_marked_frames},
    PortCounter{"icrc_errors", "frames", &PortResult::icrc_errors},
    PortCounter{"out_of_order_frames", "frames", &PortResult::out_of_order_frames},
    PortCounter{"duplicate_frames", "frames", &PortResult::duplicate_frames},
    PortCounter{"timeouts", "timeouts", &PortResult::timeouts},
};

}  // namespace gradstorm::measure
