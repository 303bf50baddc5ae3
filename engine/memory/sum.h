// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/data_type.h"

#include <cstddef>
#include <cstdint>

namespace gradstorm::memory {

/// Whether sum() knows the type; float16 has no host arithmetic here.
[[nodiscard]] bool can_sum(measure::DataType type);

/// to[i] = a[i] + b[i] over `bytes` bytes, a whole number of elements. `to` may be `a` or `b`, but must not overlap
/// them otherwise. Buffers need no alignment. bfloat16 is added in float32 and rounded to nearest, ties to even.
void sum(measure::DataType type, std::byte* to, const std::byte* a, const std::byte* b, std::uint64_t bytes);

}  // namespace gradstorm::memory
