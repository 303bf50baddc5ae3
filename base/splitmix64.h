// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradstorm {

inline constexpr std::uint64_t kSplitMixStep = 0x9E37'79B9'7F4A'7C15;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) as a hash: every bit of `x` reaches every bit of the result. The same
/// on every platform.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t x) {
    x += kSplitMixStep;
    x = (x ^ x >> 30U) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ x >> 27U) * 0x94D0'49BB'1331'11EB;
    return x ^ x >> 31U;
}

/// The same as a generator: the hashes of a counter.
class SplitMix64 {
public:
    explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t operator()() {
        const std::uint64_t drawn = splitmix64(state_);
        state_ += kSplitMixStep;
        return drawn;
    }

private:
    std::uint64_t state_;
};

}  // namespace gradstorm
