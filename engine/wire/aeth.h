// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

#include <array>
#include <cstdint>

namespace gradstorm::wire {

/// The syndrome byte of an ACK extended transport header: bits 6 and 5 say what it is, bits 4 to 0 are the credit
/// count, the RNR timer code or the NAK code. Source: InfiniBand Architecture Specification 1.4, volume 1, 9.7.5.1,
/// table 45.
enum class AckKind : std::uint8_t { ack = 0, rnr_nak = 1, reserved = 2, nak = 3 };

enum class NakCode : std::uint8_t {
    psn_sequence_error = 0,
    invalid_request = 1,
    remote_access_error = 2,
    remote_operational_error = 3,
    invalid_rd_request = 4,
};

/// The credit count of a responder without end-to-end flow control, as RoCE adapters send it.
inline constexpr std::uint8_t kNoCreditLimit = 31;

[[nodiscard]] constexpr std::uint8_t ack_syndrome(std::uint8_t credit = kNoCreditLimit) {
    return static_cast<std::uint8_t>(credit & 0x1FU);
}
[[nodiscard]] constexpr std::uint8_t rnr_nak_syndrome(std::uint8_t timer_code) {
    return static_cast<std::uint8_t>(0x20U | (timer_code & 0x1FU));
}
[[nodiscard]] constexpr std::uint8_t nak_syndrome(NakCode code) {
    return static_cast<std::uint8_t>(0x60U | static_cast<std::uint8_t>(code));
}

[[nodiscard]] constexpr AckKind ack_kind(std::uint8_t syndrome) { return static_cast<AckKind>(syndrome >> 5U & 3U); }
/// Credit count, RNR timer code or NAK code, as ack_kind() says.
[[nodiscard]] constexpr std::uint8_t syndrome_value(std::uint8_t syndrome) {
    return static_cast<std::uint8_t>(syndrome & 0x1FU);
}
[[nodiscard]] constexpr NakCode nak_code(std::uint8_t syndrome) {
    return static_cast<NakCode>(syndrome_value(syndrome));
}

namespace detail {
/// The wait that each RNR timer code asks for, in units of 10 us.
inline constexpr std::array<std::uint32_t, 32> kRnrTimerTens{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
}  // namespace detail

/// How long the requester has to wait before it tries again. Code 0 is the longest: 655.36 ms.
[[nodiscard]] constexpr Nanoseconds rnr_timer(std::uint8_t code) {
    return Nanoseconds{std::int64_t{10'000} * detail::kRnrTimerTens[code & 0x1FU]};
}

/// The code of the shortest wait that is at least `wait`; of the longest wait there is when none is.
[[nodiscard]] constexpr std::uint8_t rnr_timer_code(Nanoseconds wait) {
    for (std::uint8_t code = 1; code < 32; ++code) {
        if (rnr_timer(code) >= wait) return code;
    }
    return 0;
}

}  // namespace gradstorm::wire
