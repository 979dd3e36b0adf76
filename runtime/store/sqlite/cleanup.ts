/** Removes old ended dispatches and expired delivery ids, a slice at a time. */

import type { Ref } from '../identity.ts';
import { laneKey } from '../identity.ts';
import type { DirectHandlers } from '../unit/apply.ts';
import type { Connection } from './driver.ts';
import { stepIds } from './memory.ts';
import type { WriterRows } from './rows.ts';

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

export function createCleanup(rows: WriterRows): Pick<DirectHandlers, 'cleanup' | 'trim' | 'expire_claims'> {
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
/** Approximate limit of what one change frees, in bytes, because other changes wait meanwhile. */
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
