/** Stores new dispatches: accepted ones, and events of coalesce groups. */

import type { Headed, LargeTexts } from '../encode.ts';
import type { Group } from '../group.ts';
import { joinGroup } from '../group.ts';
import type { Accept, JoinGroup, MutationResults } from '../mutations.ts';
import type { Rows } from './rows.ts';

export const createAccept =
  (rows: Rows) =>
  (
    { dispatch, claim, claiming, max_concurrent, work, now }: Headed<Accept>,
    texts: LargeTexts,
  ): MutationResults['accept'] => {
    const isNew = claiming === 'now' ? rows.claimFree(claim, now) : !rows.isClaimed(claim, now);
    if (!isNew) return { kind: 'duplicate' };
    const state = work.kind === 'run' ? 'pending' : 'delivering';
    const holder = work.kind === 'held' ? work.holder : null;
    const ref = rows.insert({ head: dispatch, texts, max_concurrent, state, due_at: now, now, holder });
    if (work.kind === 'deliveries') rows.addDeliveries(ref, dispatch.profile, work.open, now);
    return { kind: 'stored', ref };
  };

type GroupRow = readonly [ref: number, first_at: number, due_at: number, superseded: number];

export function createGroups(rows: Rows) {
  const { db, counts } = rows;
  const find = db.query<GroupRow>('SELECT ref, first_at, due_at, superseded FROM coalesce_group WHERE key = ?');
  const put = db.change('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, ?, ?, ?)');
  const makeDue = db.change('UPDATE work SET due_at = ?1, set_at = ?1 WHERE ref IN (SELECT ref FROM coalesce_group)');
  return {
    join_group(m: Headed<JoinGroup>, texts: LargeTexts): MutationResults['join_group'] {
      const { dispatch, limits, max_concurrent, now } = m;
      if (!rows.claimFree(m.claim, now)) return { kind: 'duplicate' };
      const key = JSON.stringify([dispatch.profile, dispatch.route ?? '', m.key]);
      const found = find.get(key);
      const before: Group | null =
        found === undefined ? null : { ...limits, first_at: found[1], due_at: found[2], superseded: found[3] };
      const { first_at, due_at, superseded } = joinGroup(before, now, limits);
      const ref = rows.insert({ head: dispatch, texts, max_concurrent, state: 'pending', due_at, now, superseded });
      put(key, ref, first_at, due_at, limits.window_ms, limits.max_wait_ms, superseded);
      const replaced = found === undefined ? undefined : rows.find(found[0]);
      if (found === undefined || replaced === undefined) counts.groups++;
      else rows.move(found[0], replaced, { to: 'skipped', at: now, reason: `superseded by ${dispatch.id}` });
      return { kind: 'stored', ref, superseded, due_at };
    },
    flush_groups({ now }: { readonly now: number }): null {
      makeDue(now);
      rows.runs.reload();
      return null;
    },
  };
}
