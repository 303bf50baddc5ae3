-- SPDX-License-Identifier: Apache-2.0
-- Runs as the journals tell them (events, chunks: nothing is lost), and the same as rows that people can query.

CREATE TABLE runs (
    id             INTEGER PRIMARY KEY,
    uuid           TEXT NOT NULL UNIQUE,
    started_utc    TEXT NOT NULL,
    outcome        TEXT NOT NULL DEFAULT 'running' CHECK (outcome IN
                       ('running', 'pass', 'fail', 'invalid', 'interrupted', 'not_measured', 'error')),
    reason         TEXT NOT NULL DEFAULT '',
    complete       INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)), -- everything is here: the journals may go
    profile_name   TEXT,            -- these are NULL until the run has said what it is
    profile_sha256 TEXT,
    profile_text   TEXT,
    schedule_hash  TEXT,
    version        TEXT,
    seed           INTEGER,         -- the 64 bits as a signed integer
    ranks          INTEGER,
    path_mtu       INTEGER,
    engine         TEXT,
    payload        TEXT,
    fidelity       TEXT,
    line_rate_bits_per_s REAL       -- NULL: unknown
) STRICT;

-- A journal still to be read. The row goes when the run is complete; until then the file must stay.
CREATE TABLE journals (
    id            INTEGER PRIMARY KEY,
    run_id        INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    path          TEXT NOT NULL UNIQUE,
    next_offset   INTEGER NOT NULL DEFAULT 0,
    pid           INTEGER NOT NULL, -- of the process that owns the run
    process_start INTEGER NOT NULL, -- its start time in clock ticks since boot
    boot_id       TEXT NOT NULL
) STRICT;
CREATE INDEX journals_of_run ON journals (run_id);

CREATE TABLE run_keys (
    run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    area     TEXT NOT NULL CHECK (area IN ('setting', 'environment', 'dut')),
    position INTEGER NOT NULL,
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (run_id, area, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
    run_id         INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    measurement    INTEGER NOT NULL,
    call           INTEGER NOT NULL,
    measurement_label TEXT NOT NULL,
    label          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    type           TEXT NOT NULL,
    algorithm      TEXT NOT NULL,
    ranks          INTEGER NOT NULL,
    bytes          INTEGER NOT NULL,
    ideal_ns       INTEGER NOT NULL,
    ideal_bound    TEXT NOT NULL,
    PRIMARY KEY (run_id, measurement, call)
) STRICT, WITHOUT ROWID;

-- What was measured; what was not has no row. subject: "run", "measurement 0", "call 0.1", "port hca0", "rank 1".
CREATE TABLE metrics (
    run_id  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    name    TEXT NOT NULL,
    unit    TEXT NOT NULL,
    value   REAL NOT NULL,
    PRIMARY KEY (run_id, subject, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX metrics_by_name ON metrics (name, run_id);

-- The journal's records in their order, sequence counting both kinds.
CREATE TABLE events (
    run_id   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    time_ns  INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    fields   TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;

CREATE TABLE chunks (
    run_id      INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    sequence    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('completion_times', 'iteration_times', 'histogram_counts')),
    measurement INTEGER NOT NULL,
    call        INTEGER NOT NULL,
    repetition  INTEGER NOT NULL,
    count       INTEGER NOT NULL,   -- of the 64-bit little-endian integers in data
    min         INTEGER,            -- of times in nanoseconds
    max         INTEGER,
    data        BLOB NOT NULL,
    PRIMARY KEY (run_id, sequence)
) STRICT;
