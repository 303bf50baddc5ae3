// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/sum.h"

#include "engine/memory/floating.h"

#include <cstring>

namespace gradstorm::memory {

namespace {

// Loops are compiled for several vector widths; the loader picks at start. The sanitizers' runtimes are not ready when
// it does, so they get one version.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GRADSTORM_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define GRADSTORM_VECTOR_CLONES
#endif

/// memcpy of one element is the portable unaligned access, which compilers turn into vector loads. `to` may be `a` or
/// `b`: each element is read before it is written.
template <class T, class Add>
[[gnu::always_inline]] inline void sum_elements(std::byte* to, const std::byte* a, const std::byte* b,
                                                std::uint64_t bytes, Add add) {
    const std::uint64_t count = bytes / sizeof(T);
#pragma GCC ivdep
    for (std::uint64_t i = 0; i < count; ++i) {
        T x;
        T y;
        std::memcpy(&x, a + i * sizeof(T), sizeof(T));
        std::memcpy(&y, b + i * sizeof(T), sizeof(T));
        x = add(x, y);
        std::memcpy(to + i * sizeof(T), &x, sizeof(T));
    }
}

std::uint16_t add_bfloat16(std::uint16_t a, std::uint16_t b) {
    return to_bfloat16(from_bfloat16(a) + from_bfloat16(b));
}

/// Integers wrap, as they do on every GPU.
template <class Unsigned>
Unsigned add_wrapping(Unsigned a, Unsigned b) {
    return static_cast<Unsigned>(a + b);
}

GRADSTORM_VECTOR_CLONES void sum_float32(std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes) {
    sum_elements<float>(to, a, b, bytes, [](float x, float y) { return x + y; });
}

GRADSTORM_VECTOR_CLONES void sum_bfloat16(std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes) {
    sum_elements<std::uint16_t>(to, a, b, bytes, add_bfloat16);
}

}  // namespace

bool can_sum(measure::DataType type) { return type != measure::DataType::float16; }

void sum(measure::DataType type, std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes) {
    switch (type) {
        case measure::DataType::float32: return sum_float32(to, a, b, bytes);
        case measure::DataType::float64:
            return sum_elements<double>(to, a, b, bytes, [](double x, double y) { return x + y; });
        case measure::DataType::bfloat16: return sum_bfloat16(to, a, b, bytes);
        case measure::DataType::uint8: return sum_elements<std::uint8_t>(to, a, b, bytes, add_wrapping<std::uint8_t>);
        case measure::DataType::int32: return sum_elements<std::uint32_t>(to, a, b, bytes, add_wrapping<std::uint32_t>);
        case measure::DataType::int64: return sum_elements<std::uint64_t>(to, a, b, bytes, add_wrapping<std::uint64_t>);
        case measure::DataType::float16: return;
    }
}

}  // namespace gradstorm::memory
