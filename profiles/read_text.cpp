// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_text.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gradstorm::profiles {

namespace {
constexpr std::size_t kLargestText = std::size_t{16} << 20U;  ///< far beyond any profile; stops at /dev/zero
}  // namespace

tl::expected<std::string, std::string> read_text(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return tl::unexpected(std::string{"is a directory, not a file"});
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return tl::unexpected("cannot be read: " + std::error_code(errno, std::generic_category()).message());
    }
    std::string text;
    std::array<char, 1U << 16U> block{};
    while (file) {
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        text.append(block.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > kLargestText) {
            return tl::unexpected(std::string{"is larger than 16 MiB: this is no profile"});
        }
    }
    if (file.bad()) {
        return tl::unexpected(std::string{"cannot be read to its end"});
    }
    return text;
}

}  // namespace gradstorm::profiles
