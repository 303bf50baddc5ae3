// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/crc32.h"

#include "engine/wire/byte_order.h"
#include "engine/wire/crc32_methods.h"

namespace gradstorm::wire {
namespace crc32_detail {
namespace {

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t v = 0; v < 256; ++v) {
        std::uint32_t state = v;
        for (auto& table : tables) {
            for (int bit = 0; bit < 8; ++bit) state = times_x(state);
            table[v] = state;
        }
    }
    return tables;
}

/// kSquares[k] = x^(2^k) mod P. P divides x^(2^32 - 1) - 1, so 32 of them reach any distance.
constexpr std::array<std::uint32_t, 32> make_squares() {
    std::array<std::uint32_t, 32> squares{};
    squares[0] = power_of_x(1);
    for (std::size_t k = 1; k < squares.size(); ++k) squares[k] = multiply(squares[k - 1], squares[k - 1]);
    return squares;
}
constexpr auto kSquares = make_squares();

}  // namespace

constexpr Tables kTables = make_tables();

std::uint32_t update_table(std::uint32_t state, const std::byte* data, std::size_t size) {
    const auto index = [](std::uint32_t word, unsigned byte) { return word >> (8 * byte) & 0xFFU; };
    for (; size >= 8; data += 8, size -= 8) {
        const auto low = load_little<std::uint32_t>(data) ^ state;
        const auto high = load_little<std::uint32_t>(data + 4);
        state = kTables[7][index(low, 0)] ^ kTables[6][index(low, 1)] ^ kTables[5][index(low, 2)] ^
                kTables[4][index(low, 3)] ^ kTables[3][index(high, 0)] ^ kTables[2][index(high, 1)] ^
                kTables[1][index(high, 2)] ^ kTables[0][index(high, 3)];
    }
    for (; size > 0; ++data, --size) {
        state = state >> 8U ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(*data)) & 0xFFU];
    }
    return state;
}

}  // namespace crc32_detail

namespace {

using Update = std::uint32_t (*)(std::uint32_t, const std::byte*, std::size_t);

Update function_of(Crc32Method method) {
#if defined(__x86_64__)
    if (method == Crc32Method::pclmul) return crc32_detail::update_pclmul;
    if (method == Crc32Method::vpclmul) return crc32_detail::update_vpclmul;
#endif
    static_cast<void>(method);
    return crc32_detail::update_table;
}

}  // namespace

std::uint32_t crc32_update(std::uint32_t state, std::span<const std::byte> data) {
    static const Update update = function_of(crc32_methods().back());
    return update(state, data.data(), data.size());
}

std::uint32_t crc32_update_with(Crc32Method method, std::uint32_t state, std::span<const std::byte> data) {
    return function_of(method)(state, data.data(), data.size());
}

std::vector<Crc32Method> crc32_methods() {
    std::vector<Crc32Method> methods{Crc32Method::table};
#if defined(__x86_64__)
    if (crc32_detail::has_pclmul()) methods.push_back(Crc32Method::pclmul);
    if (crc32_detail::has_vpclmul()) methods.push_back(Crc32Method::vpclmul);
#endif
    return methods;
}

std::string_view to_string(Crc32Method method) {
    switch (method) {
        case Crc32Method::table: return "table";
        case Crc32Method::pclmul: return "pclmul";
        case Crc32Method::vpclmul: return "vpclmul";
    }
    return "unknown";
}

std::uint32_t crc32_shift(std::uint32_t state, std::uint64_t count) {
    // A zero byte multiplies by x^8 = x^(2^3). x^(2^32) = x, so the ladder of squares starts again after 32 steps.
    for (std::size_t k = 3; count != 0; k = (k + 1) % crc32_detail::kSquares.size(), count >>= 1U) {
        if ((count & 1U) != 0) state = crc32_detail::multiply(state, crc32_detail::kSquares[k]);
    }
    return state;
}

std::uint32_t crc32_byte_contribution(std::uint8_t value, std::uint64_t distance) {
    return crc32_shift(crc32_detail::kTables[0][value], distance);
}

ByteDeltaTable::ByteDeltaTable(std::uint64_t distance) {
    // Linear: each value is the lowest of its bits plus a smaller value.
    for (std::uint32_t value = 1; value < 256; ++value) {
        const std::uint32_t rest = value & (value - 1);
        deltas_[value] = rest == 0 ? crc32_byte_contribution(static_cast<std::uint8_t>(value), distance)
                                   : deltas_[value ^ rest] ^ deltas_[rest];
    }
}

Crc32Shift::Crc32Shift(std::uint64_t count) {
    for (std::size_t byte = 0; byte < tables_.size(); ++byte) {
        for (std::uint32_t value = 1; value < 256; ++value) {
            const std::uint32_t rest = value & (value - 1);
            tables_[byte][value] =
                rest == 0 ? crc32_shift(value << (8 * byte), count) : tables_[byte][value ^ rest] ^ tables_[byte][rest];
        }
    }
}

}  // namespace gradstorm::wire
