// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// Private to storage/store: the migrations, embedded from migrations/*.sql at build time.
namespace gradstorm::store {

/// In the header of every store file (PRAGMA application_id): "GStm".
inline constexpr int kApplicationId = 0x4753746d;

/// Migration i leads from schema version i to i + 1 (PRAGMA user_version).
[[nodiscard]] std::span<const char* const> migrations();

}  // namespace gradstorm::store
