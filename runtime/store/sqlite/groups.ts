/** Coalesce groups as SQL: an event joins, and the group's end makes its latest event ready to run. */
import type Database from 'libsql';
import { joinGroup } from '../../coalesce/group.ts';
import type { MutationHandlers, Ref } from '../mutations.ts';
import type { InsertDispatch } from './accept.ts';
import type { TakeClaim } from './claims.ts';
import { groupKey } from './keys.ts';

type GroupRow = readonly [
  ref: Ref,
  first_at: number,
  due_at: number,
  window_ms: number,
  max_wait_ms: number,
  superseded: number,
];

export function createCoalesce(
  db: Database.Database,
  claim: TakeClaim,
  insert: InsertDispatch,
  advance: MutationHandlers['advance'],
): MutationHandlers['coalesce'] {
  const find = db
    .prepare('SELECT ref, first_at, due_at, window_ms, max_wait_ms, superseded FROM coalesce_group WHERE key = ?')
    .raw();
  const put = db.prepare('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, ?, ?, ?)');
  return (m) => {
    if (!claim(m.claim, m.now)) return { kind: 'duplicate' };
    const key = groupKey(m.dispatch.profile, m.dispatch.route ?? '', m.key);
    const row = find.get([key]) as GroupRow | undefined;
    const group = joinGroup(row === undefined ? null : readGroup(row), m.now, m.limits);
    const { first_at, due_at, window_ms, max_wait_ms, superseded } = group;
    const ref = insert({ ...m, dispatch: { ...m.dispatch, superseded } }, 'pending', null);
    put.run([key, ref, first_at, due_at, window_ms, max_wait_ms, superseded]);
    if (row !== undefined) {
      const reason = `superseded by ${m.dispatch.id}`;
      advance({ kind: 'advance', ref: row[0], to: 'skipped', at: m.now, reason });
    }
    return { kind: 'stored', ref, superseded, due_at, max_wait_ms };
  };
}

const readGroup = ([, first_at, due_at, window_ms, max_wait_ms, superseded]: GroupRow) => ({
  first_at,
  due_at,
  window_ms,
  max_wait_ms,
  superseded,
});

export function createRelease(db: Database.Database): MutationHandlers['release'] {
  const end = db.prepare('DELETE FROM coalesce_group WHERE key = ? AND ref = ?');
  const ready = db.prepare('UPDATE work SET ready_at = ? WHERE ref = ?');
  return ({ profile, route, key, ref, now }) => {
    if (end.run([groupKey(profile, route, key), ref]).changes === 0) return false;
    ready.run([now, ref]);
    return true;
  };
}
