// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/pattern.h"

#include "base/splitmix64.h"
#include "engine/memory/floating.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gradstorm::memory {

namespace {

constexpr std::uint32_t kLargestSum = 255;

std::uint32_t summand(std::uint64_t seed, std::uint32_t rank, std::uint32_t ranks, std::uint64_t element) {
    const std::uint64_t key = splitmix64(seed ^ splitmix64(element));
    if (ranks <= kLargestSum) {
        const std::uint64_t values = kLargestSum / ranks + 1;
        return static_cast<std::uint32_t>(splitmix64(key ^ (std::uint64_t{rank} << 32U)) % values);
    }
    const std::uint64_t one_in = (ranks - 1) / kLargestSum + 1;
    return (key + rank) % one_in == 0 ? 1 : 0;
}

template <class T>
void put(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

void put_integer(std::byte* to, measure::DataType type, std::uint32_t value) {
    switch (type) {
        case measure::DataType::uint8: return put(to, static_cast<std::uint8_t>(value));
        case measure::DataType::int32: return put(to, static_cast<std::int32_t>(value));
        case measure::DataType::int64: return put(to, static_cast<std::int64_t>(value));
        case measure::DataType::float16: return put(to, small_integer_to_float16(value));
        case measure::DataType::bfloat16: return put(to, to_bfloat16(static_cast<float>(value)));
        case measure::DataType::float32: return put(to, static_cast<float>(value));
        case measure::DataType::float64: return put(to, static_cast<double>(value));
    }
}

template <class Value>
Pattern integers(measure::DataType type, Value value) {
    const std::uint32_t element = measure::size_of(type);
    Pattern pattern(kPatternElements * element);
    for (std::uint64_t i = 0; i < kPatternElements; ++i) put_integer(pattern.data() + i * element, type, value(i));
    return pattern;
}

std::uint64_t little_endian(const std::byte* from, std::uint32_t size) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(from[i]) << (8U * i);
    return value;
}

void compare_elements(std::span<const std::byte> got, const std::byte* expected, std::uint64_t offset,
                      std::uint32_t element, Mismatch& found) {
    for (std::size_t i = 0; i < got.size(); i += element) {
        if (std::memcmp(got.data() + i, expected + i, element) == 0) continue;
        if (found.wrong_elements++ != 0) continue;
        found.first_offset = offset + i;
        found.expected = little_endian(expected + i, element);
        found.got = little_endian(got.data() + i, element);
    }
}

}  // namespace

Pattern summand_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t rank, std::uint32_t ranks) {
    return integers(type, [&](std::uint64_t i) { return summand(seed, rank, ranks, i); });
}

Pattern sum_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t ranks) {
    return integers(type, [&](std::uint64_t i) {
        std::uint32_t sum = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += summand(seed, rank, ranks, i);
        return sum;
    });
}

Pattern byte_pattern(measure::DataType type, std::uint64_t seed, std::uint32_t rank) {
    Pattern pattern(kPatternElements * measure::size_of(type));
    for (std::uint64_t i = 0; i < pattern.size(); ++i) {
        pattern[i] = static_cast<std::byte>(splitmix64(seed ^ splitmix64((std::uint64_t{rank} << 32U) + i)) % 255U);
    }
    return pattern;
}

Pattern poison_pattern() { return Pattern(4096, std::byte{0xFF}); }

void fill_pattern(std::span<std::byte> to, const Pattern& pattern, std::uint64_t phase) {
    std::uint64_t at = phase % pattern.size();
    while (!to.empty()) {
        const std::size_t part = std::min(to.size(), pattern.size() - at);
        std::memcpy(to.data(), pattern.data() + at, part);
        to = to.subspan(part);
        at = 0;
    }
}

Mismatch compare(std::span<const std::byte> got, const Pattern& pattern, std::uint64_t phase, std::uint32_t element) {
    Mismatch found;
    std::uint64_t at = phase % pattern.size();
    std::uint64_t offset = 0;
    while (!got.empty()) {
        const std::size_t part = std::min(got.size(), pattern.size() - at);
        if (std::memcmp(got.data(), pattern.data() + at, part) != 0) {
            compare_elements(got.first(part), pattern.data() + at, offset, element, found);
        }
        got = got.subspan(part);
        offset += part;
        at = 0;
    }
    return found;
}

double as_number(measure::DataType type, std::uint64_t bits) {
    switch (type) {
        case measure::DataType::uint8: return static_cast<double>(bits & 0xFFU);
        case measure::DataType::int32: return static_cast<double>(static_cast<std::int32_t>(bits));
        case measure::DataType::int64: return static_cast<double>(static_cast<std::int64_t>(bits));
        case measure::DataType::bfloat16: return static_cast<double>(from_bfloat16(static_cast<std::uint16_t>(bits)));
        case measure::DataType::float32:
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        case measure::DataType::float64: return std::bit_cast<double>(bits);
        case measure::DataType::float16: break;
    }
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const auto exponent = static_cast<int>((bits >> 10U) & 0x1FU);
    const auto fraction = static_cast<double>(bits & 0x3FFU);
    if (exponent == 31) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

}  // namespace gradstorm::memory
