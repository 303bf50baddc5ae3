// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gradstorm::wire {

/// CRC-32 of Ethernet (polynomial 0x04C11DB7, bit-reflected 0xEDB88320), which is also that of the ICRC. The state is
/// the bare register: start with kCrc32Start, and the CRC is ~state at the end. Starting with 0 gives the *linear*
/// contribution of the bytes: crc32_update(s, a b) == crc32_shift(crc32_update(s, a), |b|) ^ crc32_update(0, b).
inline constexpr std::uint32_t kCrc32Start = 0xFFFF'FFFF;

/// Any length and alignment. Uses the fastest implementation that this CPU has. Allocates on its first call only; safe
/// from any thread.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t state, std::span<const std::byte> data);

/// The implementations, for tests and measurements. All give the same result.
enum class Crc32Method : std::uint8_t {
    table,    ///< 8 bytes a step through 8 KiB of tables; any CPU
    pclmul,   ///< carry-less multiplication, 4 x 128 bit; x86 with PCLMULQDQ and SSE4.1
    vpclmul,  ///< carry-less multiplication, 4 x 512 bit; x86 with VPCLMULQDQ and AVX-512
};
[[nodiscard]] std::string_view to_string(Crc32Method method);
/// What this CPU has, slowest first; crc32_update() uses the last.
[[nodiscard]] std::vector<Crc32Method> crc32_methods();
/// Precondition: the method is one of crc32_methods().
[[nodiscard]] std::uint32_t crc32_update_with(Crc32Method method, std::uint32_t state, std::span<const std::byte> data);

/// The state after `count` further zero bytes; linear in the state. Any distance in O(log count): for cold paths.
[[nodiscard]] std::uint32_t crc32_shift(std::uint32_t state, std::uint64_t count);

/// What one byte of this value, followed by `distance` bytes up to the end of the covered region, adds (XOR) to the
/// state; so changing a byte from a to b changes the CRC by contribution(a ^ b).
[[nodiscard]] std::uint32_t crc32_byte_contribution(std::uint8_t value, std::uint64_t distance);

/// crc32_byte_contribution() of all 256 values at one distance, as a table of 1 KiB: the data path keeps the ICRC of a
/// frame right with one load for each byte of the header that changed, whatever the size of the payload.
class ByteDeltaTable {
public:
    ByteDeltaTable() = default;
    /// `distance`: how many bytes stand between this byte and the ICRC.
    explicit ByteDeltaTable(std::uint64_t distance);

    [[nodiscard]] std::uint32_t operator[](std::uint8_t value) const { return deltas_[value]; }
    [[nodiscard]] std::uint32_t operator[](std::byte value) const {
        return deltas_[std::to_integer<std::size_t>(value)];
    }

private:
    std::array<std::uint32_t, 256> deltas_{};
};

/// crc32_shift() by one distance, prepared: four loads of 4 KiB of tables. For a payload whose contribution is known
/// behind headers that are not.
class Crc32Shift {
public:
    Crc32Shift() = default;
    explicit Crc32Shift(std::uint64_t count);

    [[nodiscard]] std::uint32_t operator()(std::uint32_t state) const {
        return tables_[0][state & 0xFFU] ^ tables_[1][state >> 8U & 0xFFU] ^ tables_[2][state >> 16U & 0xFFU] ^
               tables_[3][state >> 24U];
    }

private:
    std::array<std::array<std::uint32_t, 256>, 4> tables_{};
};

}  // namespace gradstorm::wire
