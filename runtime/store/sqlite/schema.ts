/** The tables in this version's format. Untrusted text is stored as JSON, because a NUL would otherwise end it. */
import { FIGURES } from '../figures.ts';
import { RENAME_LANES } from '../records.ts';
import type { DeliveryRow, DispatchRow, WorkRow } from '../unit/rows.ts';
import type { Connection } from './driver.ts';

export const FORMAT = 9;

/** The columns with their types; a new one is also added to older files, see `MIGRATIONS`. */
type Columns<Names extends string> = Readonly<Record<Names, `${'INTEGER' | 'TEXT' | 'REAL'}${string}`>>;

/** Accepted dispatches. head: JSON (Head in ../listed-rows.ts); body: JSON of the dispatch. */
const DISPATCH: Columns<Exclude<keyof DispatchRow, 'targets'>> = {
  ref: 'INTEGER PRIMARY KEY',
  id: 'TEXT NOT NULL',
  profile: 'TEXT NOT NULL',
  route: 'TEXT',
  job: 'TEXT',
  mode: 'TEXT NOT NULL',
  accepted_at: 'INTEGER NOT NULL',
  max_concurrent: 'INTEGER',
  head: 'TEXT NOT NULL',
  body: 'TEXT NOT NULL',
  session: 'TEXT',
  burst: 'INTEGER',
};
export type WorkColumn = Exclude<keyof WorkRow, 'group_key' | 'first_at' | 'superseded'>;
/**
 * Progress of each dispatch: small rows, separate from the large ones, because they change several times. turn: null
 * means the ref.
 */
const WORK: Columns<WorkColumn> = {
  ref: 'INTEGER PRIMARY KEY',
  state: 'TEXT NOT NULL',
  due_at: 'INTEGER',
  started_at: 'INTEGER',
  answered_at: 'INTEGER',
  reason: 'TEXT',
  lane: 'TEXT',
  set_at: 'INTEGER',
  holder: 'TEXT',
  failed: 'INTEGER NOT NULL DEFAULT 0',
  steps: 'INTEGER NOT NULL DEFAULT 0',
  session: 'TEXT',
  turn: 'INTEGER',
  blocked_by: 'TEXT',
};
/** Open deliveries of dispatches in state delivering. */
const DELIVERY: Columns<keyof DeliveryRow> = {
  ref: 'INTEGER NOT NULL',
  n: 'INTEGER NOT NULL',
  lane: 'TEXT NOT NULL',
  due_at: 'INTEGER NOT NULL',
  set_at: 'INTEGER NOT NULL',
  holder: 'TEXT',
  blocked_by: 'TEXT',
  told_at: 'INTEGER',
};

/** The names of the columns that a unit of work reads and changes. */
export const NAMES = {
  work: Object.keys(WORK),
  delivery: Object.keys(DELIVERY),
};

const defined = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

/** Since format 7. */
const MESSAGES = `
  -- The row of each message (runtime/store/unit/message.ts). key: JSON [profile, route, delivery id]. ttl_ms: how long the
  -- id is claimed once the message is delivered.
  CREATE TABLE message (key TEXT PRIMARY KEY, ref INTEGER NOT NULL, ttl_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX message_ref ON message (ref);
`;
/** Since format 7. */
const GUARD = `
  -- Rows of the guard (runtime/store/records.ts). id: JSON [kind, key]; body: JSON; expires_at: when it may be removed.
  CREATE TABLE IF NOT EXISTS guard_state (id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, expires_at INTEGER)
    STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS guard_kind ON guard_state (kind, id);
`;
/** Since format 7. */
const USAGE = `
  -- The usage of each run, if its agent reported it; a dispatch may have several. agent: null for the default one.
  CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    ref INTEGER NOT NULL,
    at INTEGER NOT NULL,
    agent TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost REAL
  ) STRICT;
  CREATE INDEX usage_ref ON usage (ref);
  CREATE INDEX usage_at ON usage (at);
`;
/** Since format 9. */
const BLOCKED = `
  CREATE INDEX delivery_blocked ON delivery (ref, n) WHERE blocked_by IS NOT NULL;
`;
/** Since format 7. */
const FIGURE = `
  -- Figures of traffic by the minute (runtime/store/figures.ts). minute: Unix ms at which it began.
  CREATE TABLE figure (minute INTEGER PRIMARY KEY, ${FIGURES.map((name) => `${name} INTEGER NOT NULL`).join(', ')}) STRICT;
`;
const DISPATCH_SESSION = `
  CREATE INDEX dispatch_session ON dispatch (session, ref) WHERE session IS NOT NULL;
  CREATE INDEX dispatch_burst ON dispatch (burst, ref) WHERE burst IS NOT NULL;
`;
/** Since format 7. */
const ACCEPTED = `
  CREATE INDEX dispatch_accepted ON dispatch (accepted_at);
`;
const WORK_DUE = `
  -- Due work, in the order in which it is taken from a lane, without runs that wait for their turn in a session.
  CREATE INDEX work_due ON work (lane, due_at, ref, blocked_by) WHERE state = 'pending' AND blocked_by IS NULL;
`;
const WORK_SESSION = `
  CREATE INDEX work_session ON work (session, turn) WHERE session IS NOT NULL;
`;
const TABLES = `
  CREATE TABLE dispatch (${defined(DISPATCH)}) STRICT;
  ${DISPATCH_SESSION}
  ${ACCEPTED}
  CREATE UNIQUE INDEX dispatch_id ON dispatch (id);
  CREATE INDEX dispatch_route ON dispatch (route);
  CREATE INDEX dispatch_job ON dispatch (job) WHERE job IS NOT NULL;

  CREATE TABLE work (${defined(WORK)}, finished_at INTEGER) STRICT;
  ${WORK_DUE}
  ${WORK_SESSION}
  CREATE INDEX work_held ON work (holder) WHERE holder IS NOT NULL;
  CREATE INDEX work_open ON work (ref) WHERE finished_at IS NULL;
  CREATE INDEX work_dead ON work (ref) WHERE state = 'dead';
  CREATE INDEX work_skipped ON work (ref) WHERE state = 'skipped';

  CREATE TABLE delivery (${defined(DELIVERY)}, PRIMARY KEY (ref, n)) STRICT, WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (lane, due_at, ref, n) WHERE holder IS NULL;
  CREATE INDEX delivery_held ON delivery (holder, lane) WHERE holder IS NOT NULL;
  ${BLOCKED}

  -- JSON text; program: JSON of the end of the program that answered (states.ts).
  CREATE TABLE answer (ref INTEGER PRIMARY KEY, text TEXT NOT NULL, program TEXT) STRICT;

  -- Delivery attempts and failed runs, in order. id: ref * 2^20 + n, so that storing one appends it; data: JSON.
  CREATE TABLE step (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;

  -- Delivery ids. key: JSON [profile, route, delivery id].
  CREATE TABLE claim (key TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Open coalesce groups and the dispatch that waits in each. key: JSON [profile, route, key]. window_ms, max_wait_ms: 0,
  -- because the limits of each event apply.
  CREATE TABLE coalesce_group (
    key TEXT PRIMARY KEY,
    ref INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    max_wait_ms INTEGER NOT NULL,
    superseded INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX group_ref ON coalesce_group (ref);

  -- Counts by route ('': scheduled runs), and its limit of concurrent runs.
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

  -- Dynamic jobs (body: JSON), the state of each job (ref: its latest run; paused_until: when a
  -- pause ends by itself), and one row for each instant.
  CREATE TABLE job (id TEXT PRIMARY KEY, profile TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX job_name ON job (profile, name);
  CREATE TABLE job_state (job TEXT PRIMARY KEY, paused INTEGER, cursor INTEGER, signature TEXT, ref INTEGER, paused_until INTEGER)
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
  ${MESSAGES}
  ${GUARD}
  ${USAGE}
  ${FIGURE}
`;

/** The migration of each earlier format to the next one. Stored messages get their row when they continue. */
const MIGRATIONS: Readonly<Record<number, string>> = {
  6: `${MESSAGES} ${GUARD} ${USAGE} ${FIGURE} ALTER TABLE answer ADD COLUMN program TEXT; ALTER TABLE work ADD COLUMN session TEXT;
  ALTER TABLE work ADD COLUMN turn INTEGER; ALTER TABLE work ADD COLUMN waits_for TEXT; ALTER TABLE job_state ADD COLUMN paused_until INTEGER;
  ALTER TABLE work ADD COLUMN waits_since INTEGER; ${WORK_SESSION}
  ALTER TABLE delivery ADD COLUMN waiting TEXT;
  ALTER TABLE dispatch ADD COLUMN session TEXT; ALTER TABLE dispatch ADD COLUMN burst INTEGER; ${DISPATCH_SESSION} ${ACCEPTED}`,
  // Runs that waited in a line of their job, or for a budget, are taken when they are due; their limits are checked
  // then.
  7: `DROP INDEX work_due;
  UPDATE work SET session = NULL, turn = NULL, waits_for = NULL
    WHERE session IS NOT NULL AND ref IN (SELECT ref FROM dispatch WHERE session IS NULL);
  UPDATE work SET reason = NULL WHERE reason = '"budget"' AND finished_at IS NULL;
  ALTER TABLE work RENAME COLUMN waits_for TO blocked_by; ALTER TABLE work DROP COLUMN waits_since; ${WORK_DUE}
  ${RENAME_LANES}`,
  // A rejected delivery stays blocked, and is due.
  8: `DROP INDEX IF EXISTS delivery_waiting; ALTER TABLE delivery ADD COLUMN told_at INTEGER;
  UPDATE delivery SET told_at = set_at WHERE waiting = 'told';
  UPDATE delivery SET waiting = 'approval' WHERE waiting IS NOT NULL;
  ALTER TABLE delivery RENAME COLUMN waiting TO blocked_by; ${BLOCKED}`,
};

/** The oldest format that can be migrated. */
export const OLDEST_FORMAT = 6;

/** The file's format; 0 when it has no tables. */
export function formatOf(db: Connection): number {
  return db.query<[number]>('PRAGMA user_version').get()?.[0] ?? 0;
}

/** Migrates the tables to this version's format; call it within a transaction. */
export function migrateTables(db: Connection, from: number): void {
  for (let format = from; format < FORMAT; format++) db.exec(MIGRATIONS[format] ?? '');
  db.exec(`PRAGMA user_version = ${FORMAT}`);
}

/** Creates all tables; call it within a transaction. */
export function createTables(db: Connection): void {
  db.exec(TABLES);
  db.exec(`PRAGMA user_version = ${FORMAT}`);
}
