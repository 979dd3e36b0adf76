/**
 * The changes that run their own statements instead of sharing a unit of work: jobs of users, abandoned work, old rows.
 */
import { actionRow } from '../../../../runtime/store/actions.ts';
import type {
  Cleanup,
  ExpireClaims,
  FlushGroups,
  MutationResults,
  Recover,
  Recovered,
  Trim,
} from '../../../../runtime/store/contract.ts';
import type { ForgetTicks, PauseJob, PutJob, Ref, RemoveJob, WatchJob } from '../../../../runtime/store/records.ts';
import { guardKey, laneKey } from '../../../../runtime/store/records.ts';
import type { DirectChange, DirectKind, LeftWork } from '../../../../runtime/store/unit/apply.ts';
import { release } from '../../../../runtime/store/unit/apply.ts';
import { nameJob } from '../../../../runtime/store/unit/jobs.ts';
import { WorkUnit } from '../../../../runtime/store/unit/unit.ts';
import { loadLeft } from './load-unit.ts';
import { FORGET_WINDOWS } from './pg-state.ts';
import type { DatabaseJob } from './read.ts';
import { addFigures, readRecord } from './read.ts';
import { ADD_COUNTS, COUNT_COLUMNS, CountChanges, ROW_BYTES, shortenedKey, storeUnit, upsert } from './store-unit.ts';
import type { LaneTurns } from './take-due.ts';
import { takeWork } from './take-due.ts';
import type { Scope } from './transact.ts';

/** These changes, by kind. */
export type DirectChanges = {
  readonly [K in DirectKind]: (scope: Scope, change: DirectChange<K>) => Promise<MutationResults[K]>;
};

export const createDirectChanges = (turns: LaneTurns): DirectChanges => ({
  flush_groups: flushGroups,
  take_work: (scope, m) => takeWork(scope, turns, m),
  recover,
  expire_claims: expireClaims,
  cleanup,
  trim,
  put_job: putJob,
  remove_job: removeJob,
  pause_job: setPaused,
  watch_job: watchJob,
  forget_ticks: forgetTicks,
  add_figures: addFigures,
});

async function flushGroups({ db }: Scope, { now }: FlushGroups): Promise<null> {
  await db.change("UPDATE work SET due_at = $1, set_at = $1 WHERE group_key IS NOT NULL AND state = 'pending'", [now]);
  return null;
}

/** Counts a change; this locks the row until the transaction ends. */
const CHANGED =
  "INSERT INTO meta (key, value) VALUES ('jobs_version', '1') " +
  'ON CONFLICT (key) DO UPDATE SET value = (meta.value::bigint + 1)::text';
const LOCK =
  "INSERT INTO meta (key, value) VALUES ('jobs_version', '0') ON CONFLICT (key) DO UPDATE SET value = meta.value";
const NAMES = 'SELECT id, profile, name, body FROM job WHERE profile = $1 OR id = $2';
const REMOVE = 'DELETE FROM job WHERE id = ANY($1)';
const PUT =
  'INSERT INTO job (id, profile, name, body) VALUES ($1, $2, $3, $4) ' +
  'ON CONFLICT (id) DO UPDATE SET profile = excluded.profile, name = excluded.name, body = excluded.body';
const PAUSE =
  'INSERT INTO job_state (job, paused, "cursor", paused_until) VALUES ($1, $2, $3, $4) ' +
  'ON CONFLICT (job) DO UPDATE SET paused = excluded.paused, paused_until = excluded.paused_until, "cursor" = excluded."cursor"';
const ACT = upsert('guard_state', 'id');
const WATCH =
  'INSERT INTO job_state (job, signature, "cursor") VALUES ($1, $2, $3) ' +
  'ON CONFLICT (job) DO UPDATE SET signature = excluded.signature, "cursor" = excluded."cursor", ' +
  'paused_until = job_state.paused_until - greatest(coalesce(job_state."cursor", 0) - excluded."cursor", 0)';
const FORGET =
  'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < $1 ORDER BY due_at LIMIT $2)';

/** Users' changes of jobs. They are rare, so they run one at a time. */
async function putJob({ db }: Scope, m: PutJob): Promise<MutationResults['put_job']> {
  const { job } = m;
  await db.change(LOCK);
  const rows = await db.query<DatabaseJob>(NAMES, [job.profile, job.id]);
  // A new job may take the name of an invalid one.
  const isValid = (row: DatabaseJob): boolean => readRecord(row) !== null;
  const result = nameJob(m, rows.filter(isValid));
  if (result.kind !== 'stored') return result;
  const { name } = result;
  const replaced = rows.filter((row) => row.name === name && row.id !== job.id).map(({ id }) => id);
  if (replaced.length > 0) await db.change(REMOVE, [replaced]);
  await db.change(PUT, [job.id, job.profile, name, JSON.stringify({ ...job, name })]);
  await db.change(CHANGED);
  return result;
}

async function removeJob({ db }: Scope, { id }: RemoveJob): Promise<boolean> {
  await db.change(LOCK);
  if ((await db.change(REMOVE, [[id]])) === 0) return false;
  await db.change('DELETE FROM job_state WHERE job = $1', [id]);
  await db.change(CHANGED);
  return true;
}

async function setPaused({ db }: Scope, m: PauseJob): Promise<null> {
  const { job, paused, until = null, now } = m;
  const id = shortenedKey(guardKey({ kind: 'action', key: job }));
  const row = { ...actionRow(job, m), id, key: JSON.stringify(job) };
  await db.change(PAUSE, [job, paused, now, paused ? until : null]);
  await db.change(ACT, [JSON.stringify([row])]);
  await db.change(CHANGED);
  return null;
}

async function watchJob({ db }: Scope, { job, signature, now }: WatchJob): Promise<null> {
  await db.change(WATCH, [job, signature, now]);
  return null;
}

const forgetTicks = ({ db }: Scope, { before, limit }: ForgetTicks): Promise<number> =>
  db.change(FORGET, [before, limit]);

/*
 * Releases abandoned work in two statements, because the second must see the rows that the first has locked. First,
 * expired leases get a new token, which stops their late writers. Then the work that they held is released.
 */

/** Skips a node that is in a transaction, whose row is locked: it still has its lease. */
const END_LEASES =
  'UPDATE node SET token = token + 1, ended_at = clock_timestamp() WHERE id IN (SELECT id FROM node WHERE ended_at IS NULL ' +
  'AND until < (SELECT clock_timestamp()) AND id <> $1 ORDER BY id FOR UPDATE SKIP LOCKED)';
/** SQL: true if the holder has ended. It is an earlier process of this gateway, or of a node without a lease. */
const HAS_ENDED =
  'holder <> $1 AND (node = $2 OR NOT EXISTS (SELECT 1 FROM node n WHERE n.id = t.node AND n.ended_at IS NULL))';
const LEFT =
  `SELECT ref, holder <> $1 AS has_begun FROM work t WHERE holder IS NOT NULL AND (${HAS_ENDED} ` +
  "OR holder = $1 AND state = 'running' AND NOT ref = ANY($3::bigint[])) ORDER BY ref";
const RELEASE =
  `UPDATE delivery t SET node = NULL, holder = NULL WHERE holder IS NOT NULL AND (${HAS_ENDED} OR holder = $1 AND ` +
  'NOT EXISTS (SELECT 1 FROM json_to_recordset($3::json) AS x(ref bigint, n integer) WHERE x.ref = t.ref AND x.n = t.n))';
const RESET_CLOCK = [
  "UPDATE work SET due_at = $1 + due_at - set_at, set_at = $1 WHERE state = 'pending' AND set_at > $1",
  'UPDATE delivery SET due_at = $1 + due_at - set_at, set_at = $1 WHERE holder IS NULL AND set_at > $1',
  'UPDATE work SET first_at = $1 WHERE group_key IS NOT NULL AND first_at > $1',
  `UPDATE guard_state g SET expires_at = p.until, body = format('{"since":%s,"until":%s}', $1::bigint, p.until) FROM (SELECT id, ` +
    'm[1]::bigint AS since, $1::bigint + m[2]::bigint - m[1]::bigint AS until FROM (SELECT id, regexp_match(body, ' +
    `'^{"since":(\\d{1,15}),"until":(\\d{1,15})}$') AS m FROM guard_state WHERE kind = 'pause') s) p WHERE p.id = g.id AND p.since > $1`,
];
/** Merges the counts of ended nodes into one row for each lane. */
const FOLD_COUNTS =
  'WITH gone AS (DELETE FROM tally t USING node n WHERE n.id = t.node AND n.ended_at IS NOT NULL RETURNING t.*) ' +
  `SELECT lane, 0 AS node, ${COUNT_COLUMNS.map((name) => `sum(${name})::bigint AS ${name}`).join(', ')} FROM gone GROUP BY lane`;
const FORGET_NODES = "DELETE FROM node WHERE ended_at < clock_timestamp() - interval '1 day'";

/** Runs `recover`, and removes old nodes and windows. */
async function recover(scope: Scope, { holder, now, under_way }: Recover): Promise<Recovered> {
  const { db, node } = scope;
  await db.change(END_LEASES, [node]);
  const left = await db.query<LeftWork>(LEFT, [holder, node, under_way.runs]);
  const refs = left.map(({ ref }) => ref);
  const unit = new WorkUnit(await loadLeft(db, refs));
  const released = release(unit, left, now);
  storeUnit(scope, unit);
  const attempts = under_way.attempts.map(({ ref, index }) => ({ ref, n: index }));
  const freed = await db.change(RELEASE, [holder, node, JSON.stringify(attempts)]);
  await Promise.all(RESET_CLOCK.map((sql) => db.change(sql, [now])));
  await tidyUp(scope);
  return { ...released, attempts: freed };
}

async function tidyUp({ db }: Scope): Promise<void> {
  const folded = await db.query(FOLD_COUNTS);
  if (folded.length > 0) await db.change(ADD_COUNTS, [JSON.stringify(folded)]);
  await Promise.all([FORGET_NODES, FORGET_WINDOWS].map((sql) => db.change(sql)));
}

interface OldRow {
  readonly ref: Ref;
  readonly finished_at: number | null;
  readonly accepted_at: number;
  readonly profile: string;
  readonly route: string | null;
  readonly bytes: number;
}

/** The sizes are computed without reading the texts. The newest row stays, as in every engine. */
// Of the steps, only those with the end of a program are counted (store-unit.ts).
const SLICE =
  'SELECT d.ref, e.finished_at, d.accepted_at, d.profile, d.route, octet_length(d.body) + ' +
  'coalesce(octet_length(a.text), 0) + coalesce(octet_length(a.program), 0) + coalesce((SELECT sum(octet_length(s.data)) ' +
  `FROM step s WHERE s.ref = d.ref AND strpos(s.data, '"program":') > 0), 0)::integer + ${ROW_BYTES} AS bytes FROM dispatch d %JOIN ended e ON e.ref = d.ref ` +
  'LEFT JOIN answer a ON a.ref = d.ref WHERE d.ref > $1 AND d.ref < (SELECT max(ref) FROM dispatch) ORDER BY d.ref LIMIT $2';
const ALL = SLICE.replace('%', 'LEFT ');
const ENDED = SLICE.replace('%', '');
const REMOVE_OLD = ['dispatch', 'ended', 'answer', 'step', 'message', 'usage'].map(
  (table) => `DELETE FROM ${table} WHERE ref = ANY($1::bigint[])`,
);
const BYTES = 'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM tally';
const LAST_CLAIM = 'SELECT key FROM claim WHERE key > $1 ORDER BY key LIMIT 1 OFFSET $2';
const EXPIRE = 'DELETE FROM claim WHERE key > $1 AND key <= $2 AND expires_at <= $3';
const EXPIRE_GUARD = 'DELETE FROM guard_state WHERE expires_at <= $1';
const EXPIRE_REST = 'DELETE FROM claim WHERE key > $1 AND expires_at <= $2';

/** Removes ended dispatches of one slice that are old enough. */
async function cleanup(scope: Scope, { before, after, limit }: Cleanup): Promise<MutationResults['cleanup']> {
  const found = await scope.db.query<OldRow>(ALL, [after, limit]);
  const old = found.filter(({ finished_at }) => finished_at !== null && finished_at < before);
  await remove(scope, old);
  const last = found.at(-1);
  // Later rows were accepted, and so have ended, after `before`.
  const more = last !== undefined && found.length === limit && last.accepted_at < before;
  return { removed: old.length, next: more ? last.ref : null };
}

/** Removes the oldest ended dispatches while the store is too large. */
async function trim(scope: Scope, { max_bytes, limit }: Trim): Promise<MutationResults['trim']> {
  const [total] = await scope.db.query<{ bytes: number }>(BYTES);
  let bytes = total?.bytes ?? 0;
  if (bytes <= max_bytes) return { removed: 0, bytes };
  const old: OldRow[] = [];
  for (const row of await scope.db.query<OldRow>(ENDED, [0, limit])) {
    if (bytes <= max_bytes) break;
    bytes -= row.bytes;
    old.push(row);
  }
  await remove(scope, old);
  return { removed: old.length, bytes };
}

async function remove({ db, node }: Scope, old: readonly OldRow[]): Promise<void> {
  if (old.length === 0) return;
  const counts = new CountChanges();
  for (const { profile, route, bytes } of old) {
    counts.add(laneKey(profile, route), 'removed', 1);
    counts.add(laneKey(profile, route), 'bytes', -bytes);
  }
  const refs = old.map(({ ref }) => ref);
  await Promise.all(REMOVE_OLD.map((sql) => db.change(sql, [refs])));
  await db.change(ADD_COUNTS, [JSON.stringify(counts.rows(node))]);
}

/** Removes expired delivery ids of one slice. */
async function expireClaims(
  { db }: Scope,
  { now, after, limit }: ExpireClaims,
): Promise<MutationResults['expire_claims']> {
  if (after === '') await db.change(EXPIRE_GUARD, [now]);
  const [last] = await db.query<{ key: string }>(LAST_CLAIM, [after, limit - 1]);
  if (last === undefined) return { removed: await db.change(EXPIRE_REST, [after, now]), next: null };
  return { removed: await db.change(EXPIRE, [after, last.key, now]), next: last.key };
}
