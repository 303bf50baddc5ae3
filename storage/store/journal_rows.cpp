// SPDX-License-Identifier: Apache-2.0
#include "storage/store/journal_rows.h"

#include "engine/events/run_record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gradstorm::store {
namespace {

/// Indexed by events::ChunkKind.
constexpr std::array<const char*, 3> kChunkNames{"completion_times", "iteration_times", "histogram_counts"};

std::string to_blob(const std::vector<std::uint64_t>& values) {
    std::string blob;
    blob.reserve(values.size() * 8);
    for (const std::uint64_t value : values)
        for (unsigned shift = 0; shift < 64; shift += 8) blob.push_back(static_cast<char>(value >> shift & 0xffU));
    return blob;
}

std::vector<std::uint64_t> from_blob(std::string_view blob) {
    std::vector<std::uint64_t> values(blob.size() / 8, 0);
    for (std::size_t i = 0; i < values.size() * 8; ++i)
        values[i / 8] |= static_cast<std::uint64_t>(static_cast<unsigned char>(blob[i])) << (8 * (i % 8));
    return values;
}

std::int64_t next_sequence(SQLite::Database& db, std::int64_t run) {
    SQLite::Statement query(db,
                            "SELECT 1 + max(coalesce((SELECT max(sequence) FROM events WHERE run_id = ?1), 0), "
                            "coalesce((SELECT max(sequence) FROM chunks WHERE run_id = ?1), 0))");
    query.bind(1, run);
    query.executeStep();
    return query.getColumn(0).getInt64();
}

events::Event event_of(SQLite::Statement& row) {
    return {Instant{Nanoseconds{row.getColumn(1).getInt64()}}, row.getColumn(2).getString(),
            row.getColumn(3).getString()};
}

events::Chunk chunk_of(SQLite::Statement& row) {
    events::Chunk chunk;
    const std::string name = row.getColumn(1).getString();
    const auto* kind = std::find(kChunkNames.begin(), kChunkNames.end(), name);
    chunk.kind = static_cast<events::ChunkKind>(kind - kChunkNames.begin());
    chunk.measurement = row.getColumn(2).getUInt();
    chunk.call = row.getColumn(3).getUInt();
    chunk.repetition = row.getColumn(4).getUInt();
    chunk.values = from_blob(row.getColumn(5).getString());
    return chunk;
}

/// One of both kinds of rows, in the order of the journal.
class Rows {
public:
    Rows(SQLite::Database& db, const char* sql, std::int64_t run) : statement_(db, sql) {
        statement_.bind(1, run);
        advance();
    }
    void advance() {
        sequence_ =
            statement_.executeStep() ? statement_.getColumn(0).getInt64() : std::numeric_limits<std::int64_t>::max();
    }
    [[nodiscard]] std::int64_t sequence() const { return sequence_; }
    [[nodiscard]] bool at_end() const { return sequence_ == std::numeric_limits<std::int64_t>::max(); }
    SQLite::Statement& row() { return statement_; }

private:
    SQLite::Statement statement_;
    std::int64_t sequence_ = 0;
};

void bind_times(SQLite::Statement& insert, const events::Chunk& chunk) {
    insert.bind(8);
    insert.bind(9);
    if (chunk.kind == events::ChunkKind::histogram_counts || chunk.values.empty()) return;
    const auto [low, high] = std::minmax_element(chunk.values.begin(), chunk.values.end());
    insert.bind(8, static_cast<std::int64_t>(*low));
    insert.bind(9, static_cast<std::int64_t>(*high));
}

void write_keys(SQLite::Database& db, std::int64_t run, const char* area, const measure::KeyValues& pairs) {
    SQLite::Statement insert(db, "INSERT OR REPLACE INTO run_keys VALUES (?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        insert.bind(1, run);
        insert.bind(2, area);
        insert.bind(3, static_cast<std::int64_t>(i));
        insert.bind(4, pairs[i].first);
        insert.bind(5, pairs[i].second);
        insert.exec();
        insert.reset();
    }
}

void write_calls(SQLite::Database& db, std::int64_t run, const measure::RunResult& result) {
    SQLite::Statement insert(db, "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::uint32_t m = 0; m < result.measurements.size(); ++m) {
        const auto& measurement = result.measurements[m];
        for (std::uint32_t c = 0; c < measurement.calls.size(); ++c) {
            const auto& call = measurement.calls[c];
            insert.bind(1, run);
            insert.bind(2, m);
            insert.bind(3, c);
            insert.bind(4, measurement.label);
            insert.bind(5, call.label);
            insert.bind(6, std::string{to_string(call.kind)});
            insert.bind(7, std::string{to_string(call.type)});
            insert.bind(8, call.algorithm);
            insert.bind(9, call.ranks);
            insert.bind(10, static_cast<std::int64_t>(call.bytes));
            insert.bind(11, call.ideal_ns);
            insert.bind(12, call.ideal_bound);
            insert.exec();
            insert.reset();
        }
    }
}

}  // namespace

RecordRows::RecordRows(SQLite::Database& db, std::int64_t run)
    : run_(run),
      next_(next_sequence(db, run)),
      insert_event_(db, "INSERT INTO events VALUES (?, ?, ?, ?, ?)"),
      insert_chunk_(db, "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

void RecordRows::append(const events::Event& event) {
    insert_event_.bind(1, run_);
    insert_event_.bind(2, next_++);
    insert_event_.bind(3, std::int64_t{event.time.time_since_epoch().count()});
    insert_event_.bind(4, event.kind);
    insert_event_.bind(5, event.json);
    insert_event_.exec();
    insert_event_.reset();
    described_ =
        described_ || event.kind == events::kind::kRunStarted || event.kind == events::kind::kMeasurementStarted;
}

void RecordRows::append(const events::Chunk& chunk) {
    const std::string blob = to_blob(chunk.values);
    insert_chunk_.bind(1, run_);
    insert_chunk_.bind(2, next_++);
    insert_chunk_.bind(3, kChunkNames[static_cast<std::size_t>(chunk.kind)]);
    insert_chunk_.bind(4, chunk.measurement);
    insert_chunk_.bind(5, chunk.call);
    insert_chunk_.bind(6, chunk.repetition);
    insert_chunk_.bind(7, static_cast<std::int64_t>(chunk.values.size()));
    bind_times(insert_chunk_, chunk);
    insert_chunk_.bindNoCopy(10, blob.data(), static_cast<int>(blob.size()));
    insert_chunk_.exec();
    insert_chunk_.reset();
}

measure::RunResult assemble(SQLite::Database& db, std::int64_t run, Depth depth) {
    events::RunAssembler assembler;
    std::vector<measure::RunEvent> unusable;
    std::int64_t time = 0;
    const auto take = [&](const auto& record) {
        if (const auto added = assembler.add(record); !added)
            unusable.push_back({time, std::string{events::kind::kWarning}, added.error().message});
    };
    Rows event_rows(db, "SELECT sequence, time_ns, kind, fields FROM events WHERE run_id = ? ORDER BY sequence", run);
    Rows chunk_rows(db,
                    depth == Depth::everything
                        ? "SELECT sequence, kind, measurement, call, repetition, data FROM chunks "
                          "WHERE run_id = ? ORDER BY sequence"
                        : "SELECT 0 WHERE ? IS NULL",
                    run);
    while (!event_rows.at_end() || !chunk_rows.at_end()) {
        if (event_rows.sequence() < chunk_rows.sequence()) {
            const events::Event event = event_of(event_rows.row());
            time = event.time.time_since_epoch().count();
            take(event);
            event_rows.advance();
        } else {
            take(chunk_of(chunk_rows.row()));
            chunk_rows.advance();
        }
    }
    measure::RunResult result = assembler.result();
    result.events.insert(result.events.end(), unusable.begin(), unusable.end());
    return result;
}

void describe_run(SQLite::Database& db, std::int64_t run, const measure::RunResult& result) {
    if (result.uuid.empty()) return;  // it has not said yet what it is
    SQLite::Statement update(db,
                             "UPDATE runs SET profile_name = ?2, profile_sha256 = ?3, profile_text = ?4, "
                             "schedule_hash = ?5, version = ?6, seed = ?7, ranks = ?8, path_mtu = ?9, engine = ?10, "
                             "payload = ?11, fidelity = ?12, line_rate_bits_per_s = ?13 WHERE id = ?1");
    update.bind(1, run);
    update.bind(2, result.profile_name);
    update.bind(3, result.profile_sha256);
    update.bind(4, result.profile_text);
    update.bind(5, result.schedule_hash);
    update.bind(6, result.version);
    update.bind(7, static_cast<std::int64_t>(result.seed));
    update.bind(8, result.ranks);
    update.bind(9, result.path_mtu);
    update.bind(10, result.engine);
    update.bind(11, result.payload);
    update.bind(12, result.fidelity);
    if (result.line_rate_bits_per_s) update.bind(13, *result.line_rate_bits_per_s);
    update.exec();
    write_keys(db, run, "setting", result.settings);
    write_keys(db, run, "environment", result.environment);
    write_keys(db, run, "dut", result.dut);
    write_calls(db, run, result);
}

}  // namespace gradstorm::store
