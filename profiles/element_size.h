// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gradstorm::profiles {

/// Bytes of an element of the data type that profiles call `dtype`; 0 for a name that is none. (The engine has its own
/// table, measure::size_of, which profiles cannot see.)
[[nodiscard]] constexpr std::uint64_t element_size(std::string_view dtype) {
    if (dtype == "uint8") {
        return 1;
    }
    if (dtype == "float16" || dtype == "bfloat16") {
        return 2;
    }
    if (dtype == "int32" || dtype == "float32") {
        return 4;
    }
    if (dtype == "int64" || dtype == "float64") {
        return 8;
    }
    return 0;
}

}  // namespace gradstorm::profiles
