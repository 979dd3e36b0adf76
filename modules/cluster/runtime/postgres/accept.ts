/** Stores new dispatches: accepted ones, and events of coalesce groups. */
import type { Headed, LargeTexts } from '../../../../runtime/store/encode.ts';
import { joinGroup } from '../../../../runtime/store/group.ts';
import type { Accept, JoinGroup, MutationResults } from '../../../../runtime/store/mutations.ts';
import { keyOfGroup, keyOfHold } from './keys.ts';
import type { WorkUnit } from './unit.ts';

/** Stores a dispatch, unless its delivery id is claimed, or is to be held alone and is held. */
export function accept(
  unit: WorkUnit,
  { dispatch, claim, claiming, max_concurrent, work, now }: Headed<Accept>,
  texts: LargeTexts,
): MutationResults['accept'] {
  if (unit.isClaimed(claim, now)) return { kind: 'duplicate' };
  if (claiming === 'now') unit.claim(claim);
  // The index on the keys of groups is unique: of two gateways that hold an id at the same time, one has a conflict.
  const hold = claiming === 'alone' && claim !== null ? keyOfHold(claim) : null;
  if (hold !== null && unit.loaded.groups.has(hold)) return { kind: 'held' };
  const group = hold === null ? {} : { group: { key: hold, first_at: now, superseded: 0 } };
  const state = work.kind === 'run' ? 'pending' : 'delivering';
  const holder = work.kind === 'held' ? work.holder : null;
  const ref = unit.insert({ head: dispatch, texts, max_concurrent, state, due_at: now, now, holder, ...group });
  if (work.kind === 'deliveries') unit.addDeliveries(ref, dispatch.profile, work.open, now);
  return { kind: 'stored', ref };
}

/** Stores a dispatch in its coalesce group; the one that it replaces is skipped. */
export function join(unit: WorkUnit, m: Headed<JoinGroup>, texts: LargeTexts): MutationResults['join_group'] {
  const { dispatch, limits, max_concurrent, now } = m;
  if (unit.isClaimed(m.claim, now)) return { kind: 'duplicate' };
  unit.claim(m.claim);
  const key = keyOfGroup(dispatch.profile, dispatch.route, m.key);
  const before = unit.loaded.open.get(unit.loaded.groups.get(key) ?? -1);
  const { first_at, due_at, superseded } = joinGroup(
    before === undefined
      ? null
      : { ...limits, first_at: before.first_at ?? now, due_at: before.due_at, superseded: before.superseded },
    now,
    limits,
  );
  if (before !== undefined) unit.move(before, { to: 'skipped', at: now, reason: `superseded by ${dispatch.id}` });
  const group = { key, first_at, superseded };
  const ref = unit.insert({ head: dispatch, texts, max_concurrent, state: 'pending', due_at, now, group });
  return { kind: 'stored', ref, superseded, due_at };
}
