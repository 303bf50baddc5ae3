// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/opcode.h"

#include "engine/wire/aeth.h"

#include <gtest/gtest.h>

#include <string>

namespace gradstorm::wire {
namespace {

/// What InfiniBand's table of opcodes says. Letters: F first, L last, R RETH, A AETH, I immediate, P payload,
/// Q request, C consumes a receive.
struct Row {
    std::uint8_t code;
    const char* name;
    const char* letters;
};
constexpr Row kRows[] = {
    {0x00, "SEND First", "FPQ"},
    {0x01, "SEND Middle", "PQ"},
    {0x02, "SEND Last", "LPQC"},
    {0x03, "SEND Last with immediate", "LIPQC"},
    {0x04, "SEND Only", "FLPQC"},
    {0x05, "SEND Only with immediate", "FLIPQC"},
    {0x06, "WRITE First", "FRPQ"},
    {0x07, "WRITE Middle", "PQ"},
    {0x08, "WRITE Last", "LPQ"},
    {0x09, "WRITE Last with immediate", "LIPQC"},
    {0x0A, "WRITE Only", "FLRPQ"},
    {0x0B, "WRITE Only with immediate", "FLRIPQC"},
    {0x0C, "READ request", "FLRQ"},
    {0x0D, "READ response First", "FAP"},
    {0x0E, "READ response Middle", "P"},
    {0x0F, "READ response Last", "LAP"},
    {0x10, "READ response Only", "FLAP"},
    {0x11, "ACK", "A"},
    {0x81, "CNP", ""},
};

std::string letters_of(Opcode o) {
    std::string letters;
    if (is_first(o)) letters += 'F';
    if (is_last(o)) letters += 'L';
    if (has_reth(o)) letters += 'R';
    if (has_aeth(o)) letters += 'A';
    if (has_immediate(o)) letters += 'I';
    if (has_payload(o)) letters += 'P';
    if (is_request(o)) letters += 'Q';
    if (consumes_receive(o)) letters += 'C';
    return letters;
}

TEST(Opcode, PredicatesAreThoseOfTheSpecification) {
    int known = 0;
    for (unsigned code = 0; code < 256; ++code) known += is_known_opcode(static_cast<std::uint8_t>(code)) ? 1 : 0;
    EXPECT_EQ(known, 19);
    for (const auto& row : kRows) {
        const auto opcode = static_cast<Opcode>(row.code);
        EXPECT_TRUE(is_known_opcode(row.code));
        EXPECT_EQ(to_string(opcode), row.name);
        EXPECT_EQ(letters_of(opcode), row.letters) << row.name;
    }
    EXPECT_EQ(letters_of(static_cast<Opcode>(0x64)), "") << "UD SEND Only";
    EXPECT_EQ(letters_of(static_cast<Opcode>(0x20)), "") << "UC SEND First shares its low bits with an RC opcode";
}

TEST(Aeth, SyndromesAreThoseOnTheWire) {
    EXPECT_EQ(ack_syndrome(), 0x1F);
    EXPECT_EQ(nak_syndrome(NakCode::psn_sequence_error), 0x60);
    EXPECT_EQ(nak_syndrome(NakCode::invalid_request), 0x61);
    EXPECT_EQ(nak_syndrome(NakCode::remote_access_error), 0x62);
    EXPECT_EQ(nak_syndrome(NakCode::remote_operational_error), 0x63);
    EXPECT_EQ(rnr_nak_syndrome(14), 0x2E);
    EXPECT_EQ(ack_kind(0x1F), AckKind::ack);
    EXPECT_EQ(ack_kind(0x2E), AckKind::rnr_nak);
    EXPECT_EQ(ack_kind(0x62), AckKind::nak);
    EXPECT_EQ(ack_kind(0x40), AckKind::reserved);
    EXPECT_EQ(nak_code(0x62), NakCode::remote_access_error);
    EXPECT_EQ(syndrome_value(0x2E), 14);
}

TEST(Aeth, RnrTimerTableOfTheSpecification) {
    // Milliseconds of code 0 to 31.
    constexpr double kMilliseconds[] = {655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                        0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                        2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                        40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
    for (std::uint8_t code = 0; code < 32; ++code) {
        EXPECT_DOUBLE_EQ(static_cast<double>(rnr_timer(code).count()) / 1e6, kMilliseconds[code]) << int{code};
        EXPECT_EQ(rnr_timer_code(rnr_timer(code)), code);
        EXPECT_GE(rnr_timer(rnr_timer_code(rnr_timer(code) - Nanoseconds{1})), rnr_timer(code) - Nanoseconds{1});
    }
    EXPECT_EQ(rnr_timer_code(Nanoseconds{0}), 1) << "the shortest there is";
    EXPECT_EQ(rnr_timer_code(Nanoseconds{10'001}), 2) << "rounded up";
    EXPECT_EQ(rnr_timer_code(Nanoseconds{491'520'001}), 0);
    EXPECT_EQ(rnr_timer_code(std::chrono::hours{1}), 0) << "the longest there is";
}

}  // namespace
}  // namespace gradstorm::wire
