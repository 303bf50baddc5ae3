// SPDX-License-Identifier: Apache-2.0
#include "engine/app/version.h"

#include "engine/app/compose.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <zlib.h>

namespace gradstorm::app {

std::string version_number() { return GRADSTORM_VERSION; }

std::vector<std::pair<std::string, std::string>> library_versions() {
    std::vector<std::pair<std::string, std::string>> versions = back_end_versions();
    versions.emplace_back("openssl", OpenSSL_version(OPENSSL_VERSION_STRING));
    versions.emplace_back("zlib", zlibVersion());
    return versions;
}

std::string version_text() {
    std::string text = fmt::format("gradstorm {}", version_number());
    for (const auto& [name, version] : library_versions()) text += fmt::format("\n{} {}", name, version);
    return text;
}

}  // namespace gradstorm::app
