/** Imports the jobs, delivery ids, sessions and rows of the guard of another store into an empty database. */

import { StoreRefused } from '../../../../runtime/store/contract.ts';
import type { GuardRow, JobRecord, JobState } from '../../../../runtime/store/records.ts';
import type { Chat, Turn } from '../../../../runtime/store/shared.ts';
import type { PgConnection } from './driver.ts';
import { insertInto, PUT_META, shortenedKey, upsert } from './store-unit.ts';

export interface MovedSession extends Chat {
  readonly turns: readonly Turn[];
  /** UTC instant, RFC 3339. */
  readonly changed_at: string;
}

/** A store without pending work. Nothing may write to it during the move. */
export interface MoveSource {
  /** Identifies the store; the same each time it is opened. */
  readonly id: string;
  readonly jobs: {
    readonly version: number;
    readonly records: readonly JobRecord[];
    readonly states: Readonly<Record<string, JobState>>;
  };
  readonly sessions: readonly MovedSession[];
  /** Pauses, used budgets, keys, alerts, and the id of the installation; `key` is JSON. */
  readonly guard: readonly (GuardRow & { readonly id: string; readonly expires_at: number | null })[];
  /** The `claimKey` of each delivery id, and its expiry in Unix ms; in slices. */
  claims(): Iterable<readonly { readonly key: string; readonly expires_at: number }[]>;
}

/** Number of rows of each kind. */
export interface MovedCount {
  readonly claims: number;
  readonly jobs: number;
  readonly sessions: number;
  readonly guard: number;
}

const MOVED_FROM = 'moved_from';

const CLAIMS = insertInto('claim');
const STATES = insertInto('job_state');
// A gateway may have served the empty database, and given it an id.
const GUARD = upsert('guard_state', 'id');
const JOB = 'INSERT INTO job (id, profile, name, body) VALUES ($1, $2, $3, $4)';
const SESSION =
  'WITH s AS (INSERT INTO session (profile, target, chat, turns, changed_at) VALUES ($1, $2, $3, $4, $5) RETURNING id) ' +
  'INSERT INTO session_turn (session, n, turn) SELECT s.id, x.n, x.turn FROM s, ' +
  'json_to_recordset($6::json) AS x(n bigint, turn text)';

/**
 * Imports the store, within a transaction and with the tables in the search path; resolves to the number of rows of each
 * kind that the database has stored.
 * @param progress called with the number of delivery ids stored so far
 */
export async function importStore(
  db: PgConnection,
  { id, jobs, sessions, guard, claims }: MoveSource,
  progress: (done: number) => void,
): Promise<MovedCount> {
  for (const job of jobs.records) await db.change(JOB, [job.id, job.profile, job.name, JSON.stringify(job)]);
  // The latest run of a job is not moved.
  const states = Object.entries(jobs.states).map(([job, state]) => ({ job, ...state, ref: null }));
  await db.change(STATES, [JSON.stringify(states)]);
  for (const { profile, target, chatId, turns, changed_at } of sessions) {
    const rows = turns.map((turn, index) => ({ n: index + 1, turn: JSON.stringify(turn) }));
    const values = [profile, target, JSON.stringify(chatId), turns.length, changed_at, JSON.stringify(rows)];
    await db.query(SESSION, values);
  }
  const guarded = await db.change(GUARD, [JSON.stringify(guard.map((row) => ({ ...row, id: shortenedKey(row.id) })))]);
  let claimed = 0;
  for (const slice of claims()) {
    const rows = slice.map(({ key, expires_at }) => ({ key: shortenedKey(key), expires_at }));
    claimed += await db.change(CLAIMS, [JSON.stringify(rows)]);
    progress(claimed);
  }
  const meta = { jobs_version: String(jobs.version), [MOVED_FROM]: id };
  await db.change(PUT_META, [JSON.stringify(Object.entries(meta).map(([key, value]) => ({ key, value })))]);
  const [stored] = await db.query<Pick<MovedCount, 'jobs' | 'sessions'>>(
    'SELECT (SELECT count(*) FROM job) AS jobs, (SELECT count(*) FROM session) AS sessions',
  );
  return { claims: claimed, jobs: stored?.jobs ?? 0, sessions: stored?.sessions ?? 0, guard: guarded };
}

/**
 * Checks that a store can be moved here. Resolves to `moved` when this store was already moved here. Rejects with
 * StoreRefused when gateways serve from the database, or when it contains other rows.
 */
export async function checkEmpty(db: PgConnection, id: string): Promise<'empty' | 'moved'> {
  // A gateway that starts now waits until this transaction ends.
  await db.script('LOCK TABLE node IN SHARE ROW EXCLUSIVE MODE');
  const [found] = await db.query<{ nodes: number; is_used: boolean; moved: string | null }>(
    'SELECT (SELECT count(*) FROM node WHERE ended_at IS NULL AND until > clock_timestamp()) AS nodes, ' +
      'EXISTS (SELECT 1 FROM dispatch) OR EXISTS (SELECT 1 FROM claim) OR EXISTS (SELECT 1 FROM job) ' +
      'OR EXISTS (SELECT 1 FROM job_state) OR EXISTS (SELECT 1 FROM session) AS is_used, ' +
      '(SELECT value FROM meta WHERE key = $1) AS moved',
    [MOVED_FROM],
  );
  if (found?.moved === id) return 'moved';
  const nodes = found?.nodes ?? 0;
  if (nodes > 0) {
    const [serve, them] = nodes === 1 ? ['gateway serves', 'it'] : ['gateways serve', 'them'];
    throw new StoreRefused(
      `${nodes} ${serve} from the database\nstop ${them} first: no gateway may use the database during the move`,
    );
  }
  if (found?.is_used === true) {
    throw new StoreRefused(
      'the database already contains dispatches, delivery ids, jobs or sessions\nuse an empty schema: gateway.store.schema',
    );
  }
  return 'empty';
}
