// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/opcode.h"

namespace gradstorm::wire {

std::string_view to_string(Opcode opcode) {
    switch (opcode) {
        case Opcode::send_first: return "SEND First";
        case Opcode::send_middle: return "SEND Middle";
        case Opcode::send_last: return "SEND Last";
        case Opcode::send_last_immediate: return "SEND Last with immediate";
        case Opcode::send_only: return "SEND Only";
        case Opcode::send_only_immediate: return "SEND Only with immediate";
        case Opcode::write_first: return "WRITE First";
        case Opcode::write_middle: return "WRITE Middle";
        case Opcode::write_last: return "WRITE Last";
        case Opcode::write_last_immediate: return "WRITE Last with immediate";
        case Opcode::write_only: return "WRITE Only";
        case Opcode::write_only_immediate: return "WRITE Only with immediate";
        case Opcode::read_request: return "READ request";
        case Opcode::read_response_first: return "READ response First";
        case Opcode::read_response_middle: return "READ response Middle";
        case Opcode::read_response_last: return "READ response Last";
        case Opcode::read_response_only: return "READ response Only";
        case Opcode::acknowledge: return "ACK";
        case Opcode::congestion_notification: return "CNP";
    }
    return "unknown opcode";
}

}  // namespace gradstorm::wire
