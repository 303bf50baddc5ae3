// SPDX-License-Identifier: Apache-2.0
#include "profiles/catalog.h"

#include <algorithm>

namespace gradstorm::profiles {

std::optional<CatalogEntry> find_in_catalog(std::string_view name) {
    const auto entries = catalog();
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [name](const CatalogEntry& known) { return known.name == name; });
    return entry == entries.end() ? std::nullopt : std::optional{*entry};
}

}  // namespace gradstorm::profiles
