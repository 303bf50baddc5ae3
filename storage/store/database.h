// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>

/// Private to storage/store: opening SQLite files and turning SQLite's errors into ours.
namespace gradstorm::store {

/// How long a writer waits for another one.
inline constexpr int kBusyTimeoutMs = 5000;

struct OpenDatabase {
    SQLite::Database db;
    bool read_only = false;
    std::string notice;  ///< why it is read-only although it was opened for writing
};

[[nodiscard]] Result<OpenDatabase> open_for_writing(const std::filesystem::path& path);
[[nodiscard]] Result<OpenDatabase> open_for_reading(const std::filesystem::path& path);

/// The name of a kind of file system (statfs) on which SQLite's write-ahead log cannot be shared between hosts; null
/// for all others.
[[nodiscard]] const char* network_file_system(std::uint64_t kind);

/// One line for a user: which file, what SQLite found, what to do.
[[nodiscard]] Error database_error(const std::filesystem::path& path, const SQLite::Exception& e);

/// Calls f; exceptions of SQLite and of memory become errors.
template <class F>
[[nodiscard]] auto guarded(const std::filesystem::path& path, F&& f) -> decltype(f()) {
    try {
        return f();
    } catch (const SQLite::Exception& e) {
        return tl::unexpected<Error>(database_error(path, e));
    } catch (const std::exception& e) {
        return failure(ErrorCode::store, path.string() + ": " + e.what());
    }
}

}  // namespace gradstorm::store
