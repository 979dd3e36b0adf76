/**
 * Makes a change inside the transaction of its group: in a unit of work, or with SQL for jobs, figures and old rows.
 */
import { messageOf } from '../../../base/errors.ts';
import type { Mutation, MutationKind, MutationResults } from '../contract.ts';
import type { FigureSum } from '../figures.ts';
import { addedFigures, FIGURE_SUMS, FIGURES, forgottenBefore } from '../figures.ts';
import type { CommitResult, EncodedChange, Headed, LargeTexts } from '../group-commit.ts';
import { decodeChange } from '../group-commit.ts';
import type { QueryHandlers } from '../queries.ts';
import type { Ref } from '../records.ts';
import { laneKey } from '../records.ts';
import type { DirectChange, DirectHandlers, DirectKind } from '../unit/apply.ts';
import { applyToUnit, isUnitChange } from '../unit/apply.ts';
import { nameJob, noteAction } from '../unit/jobs.ts';
import type { Connection } from './driver.ts';
import { isMediumError } from './driver.ts';
import { stepIds } from './memory.ts';
import type { WriterRows } from './rows.ts';
import { createRecover, createTakeWork } from './take-work.ts';

function createDirectHandlers(rows: WriterRows): DirectHandlers {
  const makeGroupsDue = rows.db.change(
    'UPDATE work SET due_at = ?1, set_at = ?1 WHERE ref IN (SELECT ref FROM coalesce_group)',
  );
  return {
    take_work: createTakeWork(rows),
    flush_groups({ now }) {
      makeGroupsDue(now);
      rows.memory.runs.reload();
      return null;
    },
    recover: createRecover(rows),
    ...createCleanup(rows),
    ...createJobHandlers(rows),
    add_figures: createAddFigures(rows.db),
  };
}

/** Returns a function that applies one change. It throws when the medium fails. */
export function createApply(rows: WriterRows): (encoded: EncodedChange) => CommitResult {
  const direct = createDirectHandlers(rows);
  const make = (change: Headed<Mutation>, texts: LargeTexts): MutationResults[MutationKind] => {
    if (isUnitChange(change)) return rows.inUnit((unit) => applyToUnit(unit, change, texts));
    const handler = direct[change.kind] as (change: DirectChange) => MutationResults[DirectKind];
    return handler(change);
  };
  return (encoded) => {
    const [, body, answer] = encoded;
    try {
      return { kind: 'ok', value: make(decodeChange(encoded), { body, answer }) };
    } catch (error) {
      if (isMediumError(error)) throw error;
      return { kind: 'failed', message: messageOf(error) };
    }
  };
}

type JobKind = 'put_job' | 'remove_job' | 'pause_job' | 'watch_job' | 'forget_ticks';

/** The changes that users make to jobs, and the removal of old instants. */
function createJobHandlers({ db, inUnit }: WriterRows): Pick<DirectHandlers, JobKind> {
  const named = db.query<[string, string]>('SELECT id, name FROM job WHERE profile = ? OR id = ?');
  const put = db.change('INSERT OR REPLACE INTO job (id, profile, name, body) VALUES (?, ?, ?, ?)');
  const remove = db.change('DELETE FROM job WHERE id = ?');
  const removeState = db.change('DELETE FROM job_state WHERE job = ?');
  const pause = db.change(
    'INSERT INTO job_state (job, paused, cursor, paused_until) VALUES (?1, ?2, ?3, ?4) ' +
      'ON CONFLICT (job) DO UPDATE SET paused = ?2, cursor = ?3, paused_until = ?4',
  );
  const watch = db.change(
    'INSERT INTO job_state (job, signature, cursor) VALUES (?1, ?2, ?3) ' +
      'ON CONFLICT (job) DO UPDATE SET signature = ?2, cursor = ?3, paused_until = paused_until - max(coalesce(cursor, 0) - ?3, 0)',
  );
  const changed = db.change(
    "INSERT INTO meta (key, value) VALUES ('jobs_version', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1",
  );
  const forget = db.change(
    'DELETE FROM job_tick WHERE (job, due_at) IN (SELECT job, due_at FROM job_tick WHERE due_at < ? LIMIT ?)',
  );
  return {
    put_job(m) {
      const { job } = m;
      const jobs = named.all(job.profile, job.id).map(([id, name]) => ({ id, name }));
      const result = nameJob(m, jobs);
      if (result.kind !== 'stored') return result;
      put(job.id, job.profile, result.name, JSON.stringify({ ...job, name: result.name }));
      changed();
      return result;
    },
    remove_job({ id }) {
      if (remove(id) === 0) return false;
      removeState(id);
      changed();
      return true;
    },
    pause_job({ job, paused, until = null, now, ...m }) {
      pause(job, paused ? 1 : 0, now, paused ? until : null);
      changed();
      return inUnit((unit) => noteAction(unit, job, { paused, now, ...m }));
    },
    watch_job({ job, signature, now }) {
      watch(job, signature, now);
      return null;
    },
    forget_ticks: ({ before, limit }) => forget(before, limit),
  };
}

type EndedRow = readonly [
  ref: Ref,
  finished_at: number | null,
  accepted_at: number,
  profile: string,
  route: string | null,
];

/** The newest row is kept, because its number would be reused. */
const SLICE =
  'SELECT w.ref, w.finished_at, d.accepted_at, d.profile, d.route FROM work w JOIN dispatch d USING (ref) ' +
  'WHERE w.ref > ? AND w.ref < (SELECT max(ref) FROM dispatch)';

/** Removes old ended dispatches and expired delivery ids, a slice at a time. */
function createCleanup(rows: WriterRows): Pick<DirectHandlers, 'cleanup' | 'trim' | 'expire_claims'> {
  const { db } = rows;
  const slice = db.query<EndedRow>(`${SLICE} ORDER BY w.ref LIMIT ?`);
  const ended = db.query<EndedRow>(`${SLICE} AND w.finished_at IS NOT NULL ORDER BY w.ref LIMIT ?`);
  const remove = createRemove(rows);
  const bytes = createBytes(db);
  /** Dispatches up to here have been trimmed, except those that have ended since. */
  let trimmed: Ref = 0;
  return {
    cleanup({ before, after, limit }) {
      const found = slice.all(after, limit);
      const old = found.filter(([, finishedAt]) => finishedAt !== null && finishedAt < before);
      remove(old);
      const last = found.at(-1);
      // Later rows were accepted, and so have ended, after `before`.
      const more = last !== undefined && found.length === limit && last[2] < before;
      return { removed: old.length, next: more ? last[0] : null };
    },
    trim({ max_bytes, limit }) {
      const before = bytes();
      let removed = 0;
      let size = before;
      while (size > max_bytes && removed < limit && before - size < TRIM_BYTES) {
        const found = ended.all(trimmed, Math.min(TRIM_STEP, limit - removed));
        remove(found);
        removed += found.length;
        const last = found.at(-1);
        if (last === undefined && trimmed === 0) break;
        trimmed = last?.[0] ?? 0;
        size = bytes();
      }
      return { removed, bytes: size };
    },
    expire_claims: createExpireClaims(db),
  };
}

/** Number of dispatches removed between two checks of the size. */
const TRIM_STEP = 8;
/** Approximate limit of the bytes that one change frees, because other changes wait for it. */
const TRIM_BYTES = 2 * 1024 * 1024;

function createRemove({ db, memory: { counts } }: WriterRows): (ended: readonly EndedRow[]) => void {
  const deletes = ['dispatch', 'work', 'answer', 'message', 'usage'].map((table) =>
    db.change(`DELETE FROM ${table} WHERE ref IN (SELECT value FROM json_each(?))`),
  );
  const deleteSteps = db.change('DELETE FROM step WHERE id BETWEEN ? AND ?');
  return (ended) => {
    if (ended.length === 0) return;
    const refs = JSON.stringify(ended.map(([ref]) => ref));
    for (const run of deletes) run(refs);
    for (const [ref, , , profile, route] of ended) {
      deleteSteps(...stepIds(ref));
      counts.change(counts.ofLane(laneKey(profile, route)), 'removed', 1);
    }
  };
}

/** Returns the size of the used pages, in bytes. Free pages do not count: they are reused, and the file keeps its length. */
export function createBytes(db: Connection): () => number {
  const used = db.query<[number]>(
    'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  );
  return () => used.get()?.[0] ?? 0;
}

function createExpireClaims(db: Connection): DirectHandlers['expire_claims'] {
  const last = db.query<[string]>('SELECT key FROM claim WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?');
  const remove = db.change('DELETE FROM claim WHERE key > ? AND key <= ? AND expires_at <= ?');
  const removeRest = db.change('DELETE FROM claim WHERE key > ? AND expires_at <= ?');
  const expireGuard = db.change('DELETE FROM guard_state WHERE expires_at <= ?');
  return ({ now, after, limit }) => {
    if (after === '') expireGuard(now);
    const key = last.get(after, limit - 1)?.[0];
    if (key === undefined) return { removed: removeRest(after, now), next: null };
    return { removed: remove(after, key, now), next: key };
  };
}

/** Adds the figures of a minute. */
function createAddFigures(db: Connection): DirectHandlers['add_figures'] {
  const add = db.change(
    `INSERT INTO figure (minute, ${FIGURES.join(', ')}) VALUES (?, ${FIGURES.map(() => '?').join(', ')}) ` +
      `ON CONFLICT (minute) DO UPDATE SET ${addedFigures('max')}`,
  );
  const forget = db.change('DELETE FROM figure WHERE minute < ?');
  return ({ minute, figures }) => {
    add(minute, ...FIGURES.map((name) => figures[name]));
    forget(forgottenBefore(minute));
    return null;
  };
}

export function createFigureSums(db: Connection): QueryHandlers['figures'] {
  const sums = db.query<readonly number[]>(
    `SELECT minute / ?1 * ?1 AS slot, ${FIGURE_SUMS.join(', ')} FROM figure WHERE minute >= ?2 GROUP BY 1 ORDER BY 1`,
  );
  const names = ['slot', ...FIGURES];
  return ({ since, slot_ms }) =>
    sums
      .all(slot_ms, since)
      .map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as unknown as FigureSum);
}
