/** Takes away what has been kept long enough, a slice at a time: ended dispatches, expired delivery ids. */
import type Database from 'libsql';
import type { MutationHandlers, Ref } from '../mutations.ts';
import { stepIds } from './keys.ts';
import type { TallyWriter } from './tally-writer.ts';

const TABLES = ['dispatch', 'work', 'answer'] as const;

type Row = [ref: Ref, finished_at: number | null, accepted_at: number, profile: string, route: string | null];

export function createCleanup(db: Database.Database, tally: TallyWriter): MutationHandlers['cleanup'] {
  const slice = db
    .prepare(
      'SELECT w.ref, w.finished_at, d.accepted_at, d.profile, d.route FROM work w JOIN dispatch d USING (ref) ' +
        // The newest row stays: its number would be given out again.
        'WHERE w.ref > ? AND w.ref < (SELECT max(ref) FROM dispatch) ORDER BY w.ref LIMIT ?',
    )
    .raw();
  const deletes = TABLES.map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE ref IN (SELECT value FROM json_each(?))`),
  );
  const deleteSteps = db.prepare('DELETE FROM step WHERE id BETWEEN ? AND ?');
  return ({ before, after, limit }) => {
    const rows = slice.all([after, limit]) as Row[];
    const old = rows.filter(([, finishedAt]) => finishedAt !== null && finishedAt < before);
    if (old.length > 0) {
      const refs = JSON.stringify(old.map(([ref]) => ref));
      for (const statement of deletes) statement.run([refs]);
      for (const [ref] of old) deleteSteps.run([...stepIds(ref)]);
      for (const [, , , profile, route] of old) tally.add(profile, route, 'removed', 1);
    }
    const last = rows.at(-1);
    // What was accepted later has also ended later: there is nothing to find beyond.
    const more = last !== undefined && rows.length === limit && last[2] < before;
    return { removed: old.length, next: more ? last[0] : null };
  };
}

export function createExpireClaims(db: Database.Database): MutationHandlers['expire_claims'] {
  const last = db.prepare('SELECT key FROM claim WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?').raw();
  const remove = db.prepare('DELETE FROM claim WHERE key > ? AND key <= ? AND expires_at <= ?');
  const removeRest = db.prepare('DELETE FROM claim WHERE key > ? AND expires_at <= ?');
  return ({ now, after, limit }) => {
    const row = last.get([after, limit - 1]) as readonly [string] | undefined;
    if (row === undefined) return { removed: removeRest.run([after, now]).changes, next: null };
    return { removed: remove.run([after, row[0], now]).changes, next: row[0] };
  };
}
