// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/sum.h"

#include "engine/memory/floating.h"

#include <array>
#include <cstring>

namespace gradstorm::memory {

namespace {

/// Elements are staged through small local arrays: memcpy is the portable unaligned load, and loops over arrays of a
/// fixed size that cannot overlap are what compilers turn into vector code.
constexpr std::size_t kBlock = 256;

template <class T, class Add>
void sum_elements(std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes, Add add) {
    constexpr std::uint64_t kBlockBytes = kBlock * sizeof(T);
    std::array<T, kBlock> x;
    std::array<T, kBlock> y;
    std::uint64_t done = 0;
    for (; done + kBlockBytes <= bytes; done += kBlockBytes) {
        std::memcpy(x.data(), a + done, kBlockBytes);
        std::memcpy(y.data(), b + done, kBlockBytes);
        for (std::size_t i = 0; i < kBlock; ++i) x[i] = add(x[i], y[i]);
        std::memcpy(to + done, x.data(), kBlockBytes);
    }
    const std::uint64_t rest = bytes - done;
    if (rest == 0) return;
    std::memcpy(x.data(), a + done, rest);
    std::memcpy(y.data(), b + done, rest);
    for (std::size_t i = 0; i < rest / sizeof(T); ++i) x[i] = add(x[i], y[i]);
    std::memcpy(to + done, x.data(), rest);
}

std::uint16_t add_bfloat16(std::uint16_t a, std::uint16_t b) {
    return to_bfloat16(from_bfloat16(a) + from_bfloat16(b));
}

/// Integers wrap, as they do on every GPU.
template <class Unsigned>
Unsigned add_wrapping(Unsigned a, Unsigned b) {
    return static_cast<Unsigned>(a + b);
}

}  // namespace

bool can_sum(measure::DataType type) { return type != measure::DataType::float16; }

void sum(measure::DataType type, std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes) {
    switch (type) {
        case measure::DataType::float32:
            return sum_elements<float>(to, a, b, bytes, [](float x, float y) { return x + y; });
        case measure::DataType::float64:
            return sum_elements<double>(to, a, b, bytes, [](double x, double y) { return x + y; });
        case measure::DataType::bfloat16: return sum_elements<std::uint16_t>(to, a, b, bytes, add_bfloat16);
        case measure::DataType::uint8: return sum_elements<std::uint8_t>(to, a, b, bytes, add_wrapping<std::uint8_t>);
        case measure::DataType::int32: return sum_elements<std::uint32_t>(to, a, b, bytes, add_wrapping<std::uint32_t>);
        case measure::DataType::int64: return sum_elements<std::uint64_t>(to, a, b, bytes, add_wrapping<std::uint64_t>);
        case measure::DataType::float16: return;
    }
}

}  // namespace gradstorm::memory
