// SPDX-License-Identifier: Apache-2.0
// A target with a planted fault that no corpus file reaches and a few thousand mutations do: its test passes only when
// the bounded driver finds the fault.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 5 && data[0] == 'a' && data[1] == 0xFF) std::_Exit(1);
    return 0;
}
