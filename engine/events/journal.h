// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The journal: what one process says about its run, append-only, in the order in which it happened. The run store, the
/// GUI and attach all read the same records (docs/events.md).
///
/// A record is a frame {length, CRC-32, type} and a body. Events are JSON objects, one a record; chunks carry long
/// arrays in binary. A torn last record (killed process, full disk) is recognised and ends the reading without loss of
/// the records before it. Nothing in a record depends on the wall clock, the host or the process unless its type says
/// so, so that two virtual-time runs with equal inputs write the same bytes.
namespace gradstorm::events {

/// First record of every journal; a reader refuses a newer major version by name.
inline constexpr std::uint32_t kFormatVersion = 1;

enum class ChunkKind : std::uint8_t {
    completion_times,  ///< std::int64_t nanoseconds, one an iteration
    iteration_times,
    histogram_counts,  ///< pairs {bucket, count} of the buckets that are not empty, as std::uint64_t
};

/// A long array and what it belongs to.
struct Chunk {
    ChunkKind kind = ChunkKind::completion_times;
    std::uint32_t measurement = 0;
    std::uint32_t call = 0;
    std::uint32_t repetition = 0;
    std::vector<std::uint64_t> values;
};

/// An event: `kind` and a JSON object of its fields (docs/events.md has the list).
struct Event {
    Instant time{};
    std::string kind;
    std::string json;  ///< the fields as a JSON object, "{}" when there are none
};

/// Appends records to a file, each with one write(2), so that a record is whole or torn but never mixed, and survives
/// the death of the process as soon as append() has returned. While the object lives the file is locked: that tells
/// whoever finds the journal from a container or host where process ids mean nothing that its writer is alive. Not
/// thread-safe; never called from a data path.
class JournalWriter {
public:
    /// Makes a new file, readable by its owner only, that begins with the format record. Fails when it exists.
    [[nodiscard]] static Result<JournalWriter> create(const std::filesystem::path& path);
    JournalWriter(JournalWriter&&) noexcept;
    JournalWriter& operator=(JournalWriter&&) noexcept;
    ~JournalWriter();

    /// An error names the path and the errno; the file then ends behind the last whole record.
    [[nodiscard]] Result<void> append(const Event& event);
    [[nodiscard]] Result<void> append(const Chunk& chunk);
    [[nodiscard]] const std::filesystem::path& path() const;

private:
    struct State;
    explicit JournalWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

struct ReadOutcome {
    std::uint64_t records = 0;
    std::uint64_t next_offset = 0;  ///< where a later read goes on
    bool torn = false;              ///< bytes after next_offset are no whole record (yet)
    std::string damage;             ///< one line: why the record at next_offset can never be read; empty: it may just
                                    ///< not be whole yet
};

/// Whether a JournalWriter has the file open, in any process. A file that is not there has none.
[[nodiscard]] bool has_writer(const std::filesystem::path& path);

/// Reads the whole records from `offset` (0, or a next_offset) on and hands each to the visitor that fits. Fails for a
/// file that cannot be read, is no journal, or is of a newer format; never for a torn or damaged tail.
[[nodiscard]] Result<ReadOutcome> read_journal(const std::filesystem::path& path, std::uint64_t offset,
                                               const std::function<void(const Event&)>& on_event,
                                               const std::function<void(const Chunk&)>& on_chunk);

/// The event as one line of JSON, as `gradstorm run --events` prints it.
[[nodiscard]] std::string to_json_line(const Event& event);

}  // namespace gradstorm::events
