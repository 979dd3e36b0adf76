/**
 * The tables, in the format of this version. Text that a stranger can choose is kept as JSON, because a NUL would end it
 * otherwise. What older versions wrote is brought to this format by import/.
 */
import type { Connection } from './driver.ts';

export const FORMAT = 6;
/** The oldest that import/ knows. */
export const OLDEST_FORMAT = 5;

/** What waits and who has it; created here, and beside the tables of format 5. */
export const WORK_TABLES = `
  -- What is due, in the order in which a lane takes it; what a process holds.
  CREATE INDEX work_due ON work (lane, due_at, ref) WHERE state = 'pending';
  CREATE INDEX work_held ON work (holder) WHERE holder IS NOT NULL;
  CREATE INDEX group_ref ON coalesce_group (ref);

  -- Deliveries that have not ended, of dispatches that are delivering. lane: JSON [profile, target].
  CREATE TABLE delivery (
    ref INTEGER NOT NULL,
    n INTEGER NOT NULL,
    lane TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    set_at INTEGER NOT NULL,
    holder TEXT,
    PRIMARY KEY (ref, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (lane, due_at, ref, n) WHERE holder IS NULL;
  CREATE INDEX delivery_held ON delivery (holder, lane) WHERE holder IS NOT NULL;
`;

const TABLES = `
  -- What was accepted; never changed. head: JSON [event, delivery_id, replay_of, superseded]; body: JSON of the dispatch.
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

  -- How far it has come: small rows apart from the large ones, for they change several times. lane: JSON [profile, route].
  -- due_at, of a pending one: when its run, or its group's end, is due. set_at: when that was decided. holder: who runs
  -- or delivers it. reason: JSON text. failed, steps: how many there are so far.
  CREATE TABLE work (
    ref INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    due_at INTEGER,
    started_at INTEGER,
    answered_at INTEGER,
    finished_at INTEGER,
    reason TEXT,
    lane TEXT,
    set_at INTEGER,
    holder TEXT,
    failed INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX work_open ON work (ref) WHERE finished_at IS NULL;
  CREATE INDEX work_dead ON work (ref) WHERE state = 'dead';
  CREATE INDEX work_skipped ON work (ref) WHERE state = 'skipped';

  -- JSON text.
  CREATE TABLE answer (ref INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

  -- Delivery attempts and failed runs, in order. id: ref * 2^20 + n, so that storing one appends it; data: JSON.
  CREATE TABLE step (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;

  -- Delivery ids. key: JSON [profile, route, delivery id].
  CREATE TABLE claim (key TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

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

  -- Counts by route ('': scheduled runs), and its limit of runs at once.
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
    max_concurrent INTEGER,
    PRIMARY KEY (profile, route)
  ) STRICT, WITHOUT ROWID;

  -- Jobs made at run time (body: JSON), where each job stands (ref: its latest run), and one row for each instant.
  CREATE TABLE job (id TEXT PRIMARY KEY, profile TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX job_name ON job (profile, name);
  CREATE TABLE job_state (job TEXT PRIMARY KEY, paused INTEGER, cursor INTEGER, signature TEXT, ref INTEGER)
    STRICT, WITHOUT ROWID;
  CREATE TABLE job_tick (
    job TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ref INTEGER,
    missed INTEGER NOT NULL,
    PRIMARY KEY (job, due_at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** The file's format; 0: it has no tables. */
export function formatOf(db: Connection): number {
  return db.query<[number]>('PRAGMA user_version').get()?.[0] ?? 0;
}

/** Within a transaction. */
export function createTables(db: Connection): void {
  db.exec(TABLES);
  db.exec(WORK_TABLES);
  db.exec(`PRAGMA user_version = ${FORMAT}`);
}
