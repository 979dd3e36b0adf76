/** Databases as the versions before this one made them. */
import { connect } from '../../../../runtime/store/sqlite/driver.ts';

/** What each format added to the one before, as its version wrote it. */
const VERSIONS: readonly string[] = [
  `
  -- What was accepted; never changed. head: JSON [event, delivery_id, replay_of]; body: JSON of the dispatch.
  CREATE TABLE dispatch (
    ref INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    profile TEXT NOT NULL,
    route TEXT,
    job TEXT,
    mode TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    max_concurrent INTEGER,
    head TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX dispatch_id ON dispatch (id);
  CREATE INDEX dispatch_route ON dispatch (route);
  CREATE INDEX dispatch_job ON dispatch (job) WHERE job IS NOT NULL;

  -- How far it has come. Small rows apart from the large ones: they change several times.
  -- ready_at is null while it waits in a coalesce group. reason: JSON text.
  CREATE TABLE work (
    ref INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    ready_at INTEGER,
    started_at INTEGER,
    answered_at INTEGER,
    finished_at INTEGER,
    reason TEXT
  ) STRICT;
  CREATE INDEX work_open ON work (ref) WHERE finished_at IS NULL;
  CREATE INDEX work_dead ON work (ref) WHERE state = 'dead';
  CREATE INDEX work_skipped ON work (ref) WHERE state = 'skipped';

  -- JSON text.
  CREATE TABLE answer (ref INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

  -- Delivery attempts and failed runs, in order. data: JSON.
  CREATE TABLE step (ref INTEGER NOT NULL, n INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (ref, n))
    STRICT, WITHOUT ROWID;

  -- Delivery ids. key: JSON [profile, route, delivery id].
  CREATE TABLE claim (key TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX claim_expiry ON claim (expires_at);

  -- Open coalesce groups and the dispatch that waits in each. key: JSON [profile, route, key].
  CREATE TABLE coalesce_group (
    key TEXT PRIMARY KEY,
    ref INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    max_wait_ms INTEGER NOT NULL,
    superseded INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Put in by another process beside a running server.
  CREATE TABLE inbox (ref INTEGER PRIMARY KEY) STRICT;

  CREATE TABLE tally (
    profile TEXT NOT NULL,
    route TEXT NOT NULL,
    accepted INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    delivering INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile, route)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- Jobs made at run time. body: JSON of the record.
  CREATE TABLE job (id TEXT PRIMARY KEY, profile TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX job_name ON job (profile, name);

  -- Where each job stands, those of the config too. ref: its latest run.
  CREATE TABLE job_state (job TEXT PRIMARY KEY, paused INTEGER, cursor INTEGER, signature TEXT, ref INTEGER)
    STRICT, WITHOUT ROWID;

  -- What became of each instant at which a job was due: one row, so one run, for each.
  CREATE TABLE job_tick (
    job TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ref INTEGER,
    missed INTEGER NOT NULL,
    PRIMARY KEY (job, due_at)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Steps by one growing number, so that storing one appends it. id: ref * 2^20 + n; data: JSON.
  CREATE TABLE numbered_step (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
  INSERT INTO numbered_step (id, data) SELECT ref * 1048576 + n, data FROM step ORDER BY ref, n;
  DROP TABLE step;
  ALTER TABLE numbered_step RENAME TO step;

  -- Expired ids are found by going through all of them now and then: an index would cost every event.
  DROP INDEX claim_expiry;
  `,
  `
  -- Batches that are committed and not in their tables yet, see staging.ts. changes: JSON.
  CREATE TABLE staged_batch (seq INTEGER PRIMARY KEY, changes TEXT NOT NULL) STRICT;
  `,
  `
  -- The journal (../journal/) has taken the place of staged batches. Which one is ours: a random name.
  DROP TABLE staged_batch;
  INSERT INTO meta (key, value) VALUES ('store_name', lower(hex(randomblob(16))));
  `,
];

/** Makes a file of a format from 1 to 5, and puts rows in. */
export function makeOldDatabase(path: string, format: number, rows: string): void {
  const db = connect(path, { busyMs: 0 });
  for (const sql of VERSIONS.slice(0, format)) db.exec(sql);
  db.exec(rows);
  db.exec(`PRAGMA user_version = ${format}`);
  db.close();
}
