/** Stores new dispatches: accepted ones, and events of coalesce groups. */
import type { Headed, LargeTexts } from '../encode.ts';
import type { Accept, JoinGroup } from '../event-mutations.ts';
import { joinGroup } from '../group.ts';
import type { StoredClaim } from '../identity.ts';
import { claimKey } from '../identity.ts';
import type { MutationResults } from '../mutations.ts';
import { refuseRun, reserveRun } from './budget.ts';
import { countRun } from './guard.ts';
import { attemptAgain } from './message.ts';
import { pauseOf } from './pause.ts';
import type { WorkUnit } from './unit.ts';

/** Stores a dispatch, or continues the row of its message, unless its delivery id is claimed or the message is held. */
export function accept(unit: WorkUnit, m: Headed<Accept>, texts: LargeTexts): MutationResults['accept'] {
  const { rows } = unit;
  const { dispatch, claim, claiming, max_concurrent, work, now } = m;
  if (unit.isClaimed(claim, now)) return { kind: 'duplicate' };
  const pause = work.kind === 'run' ? null : pauseOf(unit, dispatch, now);
  if (pause !== null && (work.kind === 'held' || isKnown(unit, claim)))
    return { kind: 'route_paused', until: pause.until };
  const again = claim === null || work.kind === 'run' ? null : attemptAgain(unit, m, claim, texts);
  if (again !== null) return again;
  const over = refuseRun(unit, m.budgets, now) ?? countRun(unit, m.limits, now);
  if (over !== null) return over;
  reserveRun(unit, m.budgets, now);
  if (claiming === 'now') unit.claim(claim);
  const isHeld = pause !== null && texts.answer === null;
  const state = work.kind === 'run' || isHeld ? 'pending' : 'delivering';
  const holder = work.kind === 'held' ? work.holder : null;
  const ref = unit.insert({ head: dispatch, texts, max_concurrent, state, due_at: now, now, holder });
  if (work.kind === 'deliveries' && !isHeld) unit.addDeliveries(ref, dispatch.profile, work.open, now);
  if (claim !== null && work.kind !== 'run') {
    unit.keepMessage(rows.keyOf(claimKey(claim)), { ref, ttl_ms: claim.expires_at - now });
  }
  return { kind: 'stored', ref };
}

/** Whether there is a row of the message, which a further attempt would continue at once. */
const isKnown = ({ rows }: WorkUnit, claim: StoredClaim | null): boolean =>
  claim !== null && rows.messages.get(rows.keyOf(claimKey(claim))) !== undefined;

/** Stores a dispatch in its coalesce group; the one that it replaces is skipped. */
export function join(unit: WorkUnit, m: Headed<JoinGroup>, texts: LargeTexts): MutationResults['join_group'] {
  const { dispatch, limits, max_concurrent, now } = m;
  const { rows } = unit;
  if (unit.isClaimed(m.claim, now)) return { kind: 'duplicate' };
  const key = rows.keyOf(groupKey(dispatch.profile, dispatch.route, m.key));
  const waiting = rows.groups.get(key);
  const before = waiting === undefined ? undefined : rows.work.get(waiting);
  if (before === undefined) {
    const over = refuseRun(unit, m.budgets, now) ?? countRun(unit, m.run_limits, now);
    if (over !== null) return over;
    reserveRun(unit, m.budgets, now);
  }
  unit.claim(m.claim);
  const { first_at, due_at, superseded } = joinGroup(
    before === undefined ? null : { first_at: before.first_at ?? now, superseded: before.superseded },
    now,
    limits,
  );
  const group = { key, first_at, superseded };
  const next = { head: dispatch, texts, max_concurrent, state: 'pending', due_at, now, group } as const;
  const ref = unit.insert({ ...next, replaced: before });
  if (before !== undefined) unit.move(before, { to: 'skipped', at: now, reason: `superseded by ${dispatch.id}` });
  return { kind: 'stored', ref, superseded, due_at };
}

export const groupKey = (profile: string, route: string | null, key: string): string =>
  JSON.stringify([profile, route ?? '', key]);
