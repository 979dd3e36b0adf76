/** Takes away ended dispatches whose retention is over, a slice at a time. */
import type Database from 'libsql';
import type { MutationHandlers, Ref } from '../mutations.ts';
import type { TallyWriter } from './tally-writer.ts';

const TABLES = ['dispatch', 'work', 'answer', 'step'] as const;

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
  return ({ before, after, limit }) => {
    const rows = slice.all([after, limit]) as Row[];
    const old = rows.filter(([, finishedAt]) => finishedAt !== null && finishedAt < before);
    if (old.length > 0) {
      const refs = JSON.stringify(old.map(([ref]) => ref));
      for (const statement of deletes) statement.run([refs]);
      for (const [, , , profile, route] of old) tally.add(profile, route, 'removed', 1);
    }
    const last = rows.at(-1);
    // What was accepted later has also ended later: there is nothing to find beyond.
    const more = last !== undefined && rows.length === limit && last[2] < before;
    return { removed: old.length, next: more ? last[0] : null };
  };
}
