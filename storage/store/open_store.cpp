// SPDX-License-Identifier: Apache-2.0
#include "storage/store/database.h"
#include "storage/store/schema.h"

#include <SQLiteCpp/Transaction.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sqlite3.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradstorm::store {
namespace {

tl::unexpected<Error> refuse(const std::filesystem::path& path, const std::string& why) {
    return failure(ErrorCode::store, path.string() + ": " + why);
}

/// Bytes 18 and 19 of the header are 2 in write-ahead mode: such a file's reader writes beside it.
bool is_live(const std::filesystem::path& path) {
    constexpr std::streamoff kWriteVersion = 18;
    std::ifstream file(path, std::ios::binary);
    file.seekg(kWriteVersion);
    return file.get() == 2;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Two hosts in one write-ahead log damage the file, and each takes the other's runs for dead.
Result<void> check_file_system(const std::filesystem::path& path) {
    struct statfs info{};
    std::error_code unknown;
    const bool made = std::filesystem::exists(path, unknown);
    if (::statfs(made ? path.c_str() : folder_of(path).c_str(), &info) != 0) return {};
    if (const char* name = network_file_system(static_cast<std::uint64_t>(info.f_type)))
        return refuse(path, std::string{"the run store cannot be on a network file system ("} + name +
                                "), name a file on a local disk with --store");
    return {};
}

/// A live store is opened by its owner only: SQLite's side files, made by another account, would lock the owner out.
Result<void> check_owner(const std::filesystem::path& path, bool for_writing) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0)
        return refuse(path, "cannot open the run store: " + std::generic_category().message(errno));
    if (!S_ISREG(info.st_mode)) return refuse(path, "not a file, name a run store with --store");
    if (info.st_uid != ::geteuid() && (for_writing || is_live(path)))
        return refuse(path, "the run store belongs to another account (user id " + std::to_string(info.st_uid) +
                                "), use your own, or a file that its owner exported");
    return {};
}

/// Makes the file, private, so that SQLite does not with the permissions of its choice.
Result<void> create_file(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(folder_of(path), error);
    if (auto local = check_file_system(path); !local) return local;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return refuse(path, "cannot open the run store: " + std::generic_category().message(errno));
    ::close(fd);
    return {};
}

int pragma(SQLite::Database& db, const char* name) { return db.execAndGet(std::string{"PRAGMA "} + name).getInt(); }

int newest_version() { return static_cast<int>(migrations().size()); }

std::optional<std::string> not_ours(SQLite::Database& db) {
    if (pragma(db, "application_id") == kApplicationId) return std::nullopt;
    if (db.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0 && pragma(db, "user_version") == 0)
        return std::nullopt;  // new and empty
    return "a database of another program, not a run store; name another file with --store";
}

void migrate(SQLite::Database& db) {
    if (pragma(db, "user_version") == newest_version()) return;
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    // Looked at again: another process may have migrated while this one waited.
    for (int version = pragma(db, "user_version"); version < newest_version(); ++version) {
        db.exec(migrations()[static_cast<std::size_t>(version)]);
        db.exec("PRAGMA user_version = " + std::to_string(version + 1));
    }
    db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    transaction.commit();
}

Result<OpenDatabase> open_existing(const std::filesystem::path& path) {
    OpenDatabase opened{SQLite::Database(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs), true, {}};
    if (const auto why = not_ours(opened.db)) return refuse(path, *why);
    if (pragma(opened.db, "user_version") == 0) return refuse(path, "an empty file, not a run store");
    return opened;
}

}  // namespace

Result<OpenDatabase> open_for_writing(const std::filesystem::path& path) {
    if (std::error_code unknown; !std::filesystem::exists(path, unknown))
        if (auto made = create_file(path); !made) return tl::unexpected(made.error());
    if (auto owned = check_owner(path, true); !owned) return tl::unexpected(owned.error());
    if (auto local = check_file_system(path); !local) return tl::unexpected(local.error());
    return guarded(path, [&]() -> Result<OpenDatabase> {
        OpenDatabase opened{SQLite::Database(path.string(), SQLite::OPEN_READWRITE, kBusyTimeoutMs), false, {}};
        if (const auto why = not_ours(opened.db)) return refuse(path, *why);
        if (const int version = pragma(opened.db, "user_version"); version > newest_version()) {
            auto reading = open_existing(path);
            if (reading)
                reading->notice = path.string() + ": the run store has schema " + std::to_string(version) +
                                  ", this version knows " + std::to_string(newest_version()) +
                                  ": opened read-only, use a newer gradstorm to add runs";
            return reading;
        }
        if (opened.db.execAndGet("PRAGMA journal_mode").getString() != "wal")
            opened.db.exec("PRAGMA journal_mode = WAL");
        opened.db.exec("PRAGMA synchronous = NORMAL");
        opened.db.exec("PRAGMA foreign_keys = ON");
        migrate(opened.db);
        return opened;
    });
}

Result<OpenDatabase> open_for_reading(const std::filesystem::path& path) {
    if (auto owned = check_owner(path, false); !owned) return tl::unexpected(owned.error());
    if (is_live(path))
        if (auto local = check_file_system(path); !local) return tl::unexpected(local.error());
    return guarded(path, [&] { return open_existing(path); });
}

const char* network_file_system(std::uint64_t kind) {
    switch (kind) {
        case NFS_SUPER_MAGIC: return "NFS";
        case SMB_SUPER_MAGIC:
        case SMB2_SUPER_MAGIC:
        case CIFS_SUPER_MAGIC: return "SMB";
        case V9FS_MAGIC: return "9p";
        default: return nullptr;
    }
}

Error database_error(const std::filesystem::path& path, const SQLite::Exception& e) {
    const auto line = [&](const std::string& what) { return Error{ErrorCode::store, path.string() + ": " + what}; };
    switch (e.getErrorCode()) {
        case SQLITE_NOTADB: return line("not a database, name a run store with --store");
        case SQLITE_CORRUPT:
            return line("the run store is damaged (" + std::string{e.what()} +
                        "), move it away, and restore a copy or save what is left with sqlite3's .recover");
        case SQLITE_FULL: return line("store full: make room on its disk");
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {ErrorCode::busy,
                    path.string() + ": the run store is locked by another program, close that program and try again"};
        case SQLITE_READONLY: return line("the run store cannot be written: " + std::string{e.what()});
        case SQLITE_CANTOPEN: return line("cannot open the run store: " + std::string{e.what()});
        default: return line(e.what());
    }
}

}  // namespace gradstorm::store
