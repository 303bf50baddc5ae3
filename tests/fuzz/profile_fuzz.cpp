// SPDX-License-Identifier: Apache-2.0
#include "profiles/parse.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Any bytes as a profile, and their first line as a --set: the answer is a profile or mistakes of one line each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gradstorm::profiles;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    ParseOptions options;
    if (size % 4 == 0) {
        options.overrides.emplace_back(text.substr(0, text.find('\n')));
    }
    const auto profile = parse_profile("fuzz", text, options);
    if (!profile && profile.error().empty()) {
        std::abort();
    }
    return 0;
}
