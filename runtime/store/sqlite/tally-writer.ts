/** Collects the counts that change within one transaction and writes each route once. */
import type Database from 'libsql';
import type { TallyColumn } from '../tally.ts';
import { TALLY_COLUMNS } from '../tally.ts';

export interface TallyWriter {
  add(profile: string, route: string | null, column: TallyColumn, by: number): void;
  /** Part of the transaction. */
  flush(): void;
  /** After a rollback. */
  discard(): void;
}

export function createTallyWriter(db: Database.Database): TallyWriter {
  const changes = new Map<string, { profile: string; route: string; by: number[] }>();
  const create = db.prepare('INSERT INTO tally (profile, route) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const sums = TALLY_COLUMNS.map((column) => `${column} = ${column} + ?`).join(', ');
  const update = db.prepare(`UPDATE tally SET ${sums} WHERE profile = ? AND route = ?`);
  return {
    add(profile, route, column, by) {
      const name = `${profile}\n${route ?? ''}`;
      let change = changes.get(name);
      if (change === undefined) {
        change = { profile, route: route ?? '', by: TALLY_COLUMNS.map(() => 0) };
        changes.set(name, change);
      }
      const index = TALLY_COLUMNS.indexOf(column);
      change.by[index] = (change.by[index] ?? 0) + by;
    },
    flush() {
      for (const { profile, route, by } of changes.values()) {
        const row = [...by, profile, route];
        if (update.run(row).changes > 0) continue;
        create.run([profile, route]);
        update.run(row);
      }
      changes.clear();
    },
    discard: () => changes.clear(),
  };
}
