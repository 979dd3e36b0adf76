/** Users' changes of jobs. They are rare, so they run one at a time. */
import type { ForgetTicks, PauseJob, PutJob, RemoveJob, WatchJob } from '../../../../runtime/store/job-mutations.ts';
import type { MutationResults } from '../../../../runtime/store/mutations.ts';
import { nameJob } from '../../../../runtime/store/unit/jobs.ts';
import type { DatabaseJob } from './read-jobs.ts';
import { readRecord } from './read-jobs.ts';
import type { Scope } from './transact.ts';

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
  'ON CONFLICT (job) DO UPDATE SET paused = excluded.paused, paused_until = excluded.paused_until, "cursor" = coalesce(excluded."cursor", job_state."cursor")';
const WATCH =
  'INSERT INTO job_state (job, signature, "cursor") VALUES ($1, $2, $3) ' +
  'ON CONFLICT (job) DO UPDATE SET signature = excluded.signature, "cursor" = excluded."cursor"';
const FORGET =
  'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < $1 ORDER BY due_at LIMIT $2)';

export async function putJob({ db }: Scope, m: PutJob): Promise<MutationResults['put_job']> {
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

export async function removeJob({ db }: Scope, { id }: RemoveJob): Promise<boolean> {
  await db.change(LOCK);
  if ((await db.change(REMOVE, [[id]])) === 0) return false;
  await db.change('DELETE FROM job_state WHERE job = $1', [id]);
  await db.change(CHANGED);
  return true;
}

export async function setPaused({ db }: Scope, { job, paused, until = null, now }: PauseJob): Promise<null> {
  await db.change(PAUSE, [job, paused, paused ? null : now, paused ? until : null]);
  await db.change(CHANGED);
  return null;
}

export async function watchJob({ db }: Scope, { job, signature, now }: WatchJob): Promise<null> {
  await db.change(WATCH, [job, signature, now]);
  return null;
}

export const forgetTicks = ({ db }: Scope, { before, limit }: ForgetTicks): Promise<number> =>
  db.change(FORGET, [before, limit]);
