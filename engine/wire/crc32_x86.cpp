// SPDX-License-Identifier: Apache-2.0
// Folding with carry-less multiplication. The message is a polynomial; bytes that stand n bits in front of a place can
// be replaced there by their product with x^n mod P without changing the CRC. A 128-bit lane is moved on by two 64-bit
// products; independent lanes hide the latency of the multiplier.
#include "engine/wire/crc32_methods.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace gradstorm::wire::crc32_detail {
namespace {

#define GRADSTORM_PCLMUL __attribute__((target("pclmul,sse4.1")))
#define GRADSTORM_VPCLMUL __attribute__((target("vpclmulqdq,avx512f,pclmul,sse4.1")))

/// The multiplier that moves a 64-bit half on by n bits: x^n mod P, one place to the left because the product of two
/// reflected polynomials of 64 bit has 127 of them.
constexpr long long multiplier(unsigned n) {
    const std::uint64_t shifted = std::uint64_t{power_of_x(n)} << 1U;
    return static_cast<long long>(shifted);
}

/// A lane is moved on by n bits: its low half stands 64 bits further in front, and each product has 32 bits to spare.
constexpr long long low_half(unsigned n) { return multiplier(n + 32); }
constexpr long long high_half(unsigned n) { return multiplier(n - 32); }

static_assert(low_half(512) == 0x1'5444'2bd4 && high_half(512) == 0x1'c6e4'1596,
              "the constants that the literature on this method prints for 512 bits");

GRADSTORM_PCLMUL inline __m128i load128(const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

template <unsigned Bits>
GRADSTORM_PCLMUL inline __m128i fold(__m128i lane, __m128i next) {
    const __m128i k = _mm_set_epi64x(high_half(Bits), low_half(Bits));
    const __m128i products = _mm_xor_si128(_mm_clmulepi64_si128(lane, k, 0x00), _mm_clmulepi64_si128(lane, k, 0x11));
    return _mm_xor_si128(products, next);
}

/// Folds the whole 16-byte blocks that are left into the lane, then lets the tables do the last 16 bytes and the tail.
GRADSTORM_PCLMUL std::uint32_t finish(__m128i lane, const std::byte* data, std::size_t size) {
    for (; size >= 16; data += 16, size -= 16) lane = fold<128>(lane, load128(data));
    alignas(16) std::byte last[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(last), lane);
    return update_table(update_table(0, last, sizeof last), data, size);
}

GRADSTORM_VPCLMUL inline __m512i load512(const std::byte* at) { return _mm512_loadu_si512(at); }

template <unsigned Bits>
GRADSTORM_VPCLMUL inline __m512i fold4(__m512i lanes, __m512i next) {
    const __m512i k = _mm512_set4_epi64(high_half(Bits), low_half(Bits), high_half(Bits), low_half(Bits));
    constexpr int kXor3 = 0x96;
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(lanes, k, 0x00), _mm512_clmulepi64_epi128(lanes, k, 0x11),
                                     next, kXor3);
}

/// One lane of a register. The masked form, because GCC 12 warns of an uninitialised value inside the plain one.
template <int Lane>
GRADSTORM_VPCLMUL inline __m128i extract(__m512i lanes) {
    constexpr __mmask8 kAll = 0xF;
    return _mm512_maskz_extracti32x4_epi32(kAll, lanes, Lane);
}

/// Moves the first three lanes of a register on to the fourth.
GRADSTORM_VPCLMUL inline __m128i join_lanes(__m512i lanes) {
    const __m512i k = _mm512_set_epi64(0, 0, high_half(128), low_half(128), high_half(256), low_half(256),
                                       high_half(384), low_half(384));
    const __m512i moved =
        _mm512_xor_si512(_mm512_clmulepi64_epi128(lanes, k, 0x00), _mm512_clmulepi64_epi128(lanes, k, 0x11));
    const __m128i first = _mm_xor_si128(extract<0>(moved), extract<1>(moved));
    const __m128i last = _mm_xor_si128(extract<2>(moved), extract<3>(lanes));
    return _mm_xor_si128(first, last);
}

}  // namespace

bool has_pclmul() { return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0; }

bool has_vpclmul() {
    return has_pclmul() && __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("avx512f") != 0;
}

GRADSTORM_PCLMUL std::uint32_t update_pclmul(std::uint32_t state, const std::byte* data, std::size_t size) {
    if (size < 32) return update_table(state, data, size);
    __m128i lane = _mm_xor_si128(load128(data), _mm_cvtsi32_si128(static_cast<int>(state)));
    if (size < 128) return finish(lane, data + 16, size - 16);

    __m128i b = load128(data + 16);
    __m128i c = load128(data + 32);
    __m128i d = load128(data + 48);
    for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
        lane = fold<512>(lane, load128(data));
        b = fold<512>(b, load128(data + 16));
        c = fold<512>(c, load128(data + 32));
        d = fold<512>(d, load128(data + 48));
    }
    lane = fold<128>(lane, b);
    lane = fold<128>(lane, c);
    return finish(fold<128>(lane, d), data, size);
}

GRADSTORM_VPCLMUL std::uint32_t update_vpclmul(std::uint32_t state, const std::byte* data, std::size_t size) {
    if (size < 128) return update_pclmul(state, data, size);
    __m512i a = _mm512_xor_si512(load512(data), _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
    if (size >= 512) {
        __m512i b = load512(data + 64);
        __m512i c = load512(data + 128);
        __m512i d = load512(data + 192);
        for (data += 256, size -= 256; size >= 256; data += 256, size -= 256) {
            a = fold4<2048>(a, load512(data));
            b = fold4<2048>(b, load512(data + 64));
            c = fold4<2048>(c, load512(data + 128));
            d = fold4<2048>(d, load512(data + 192));
        }
        a = fold4<512>(a, b);
        a = fold4<512>(a, c);
        a = fold4<512>(a, d);
    } else {
        data += 64;
        size -= 64;
    }
    for (; size >= 64; data += 64, size -= 64) a = fold4<512>(a, load512(data));
    return finish(join_lanes(a), data, size);
}

}  // namespace gradstorm::wire::crc32_detail

#endif
