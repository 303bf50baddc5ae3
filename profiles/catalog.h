// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

/// The profiles that come with gradstorm (profiles/catalog/*.toml), held inside the program, so that it works anywhere.
namespace gradstorm::profiles {

struct CatalogEntry {
    std::string_view name;     ///< "resnet50-ddp-2"
    std::string_view summary;  ///< first line of the comment at its top
    std::string_view text;     ///< the file, byte for byte
};

/// In the order of their names. Lives as long as the program.
[[nodiscard]] std::span<const CatalogEntry> catalog();

[[nodiscard]] std::optional<CatalogEntry> find_in_catalog(std::string_view name);

}  // namespace gradstorm::profiles
