/** The changes that are decided over the rows of a unit of work: accepting, advancing and recovering dispatches. */

import type { Dispatch } from '../../../schemas/generated/types.ts';
import type {
  Accept,
  Advance,
  GivenUp,
  GiveUp,
  JoinGroup,
  Mutation,
  MutationKind,
  MutationResults,
  RecordAttempt,
  Recovered,
} from '../contract.ts';
import { decodeOr, isText } from '../decode.ts';
import type { Headed, LargeTexts } from '../group-commit.ts';
import { headOf, headText } from '../group-commit.ts';
import type { PutGuard, Ref, StoredClaim } from '../records.ts';
import { claimKeys, laneParts, routeLane } from '../records.ts';
import type { DeliveryEnding, Step } from '../states.ts';
import { actionStep, canAdvance, endDelivering, interruptedStep, isRejected, joinGroup } from '../states.ts';
import { changeDelivery, setAt } from './blocked.ts';
import { beginRun, changePause, fire, pauseOf, tick } from './jobs.ts';
import { attemptAgain, resend, settleClaim } from './message.ts';
import type { WorkUnit } from './unit.ts';

/** Stores a dispatch, or continues the row of its message, unless its delivery id is claimed or the message is held. */
function accept(unit: WorkUnit, m: Headed<Accept>, texts: LargeTexts): MutationResults['accept'] {
  const { dispatch, claim, claiming, max_concurrent, work, now } = m;
  if (unit.isClaimed(claim, now)) return { kind: 'duplicate' };
  const pause = work.kind === 'run' ? null : pauseOf(unit, dispatch, now);
  if (pause !== null && (work.kind === 'held' || isKnown(unit, claim)))
    return { kind: 'route_paused', until: pause.until };
  const again = claim === null || work.kind === 'run' ? null : attemptAgain(unit, m, claim, texts);
  if (again !== null) return again;
  const over = unit.parts.counter.count(unit, m.limits ?? [], now);
  if (over !== null && over.holds !== true) return over;
  if (claiming === 'now') unit.claim(claim);
  const isHeld = (pause !== null && texts.answer === null) || over !== null;
  const state = work.kind === 'run' || isHeld ? 'pending' : 'delivering';
  const holder = work.kind === 'held' ? work.holder : null;
  const due_at = over?.until ?? now;
  const ref = unit.insert({ head: dispatch, texts, max_concurrent, state, due_at, now, holder });
  if (work.kind === 'deliveries' && !isHeld) unit.addDeliveries(ref, dispatch.profile, work.open, now);
  if (claim !== null && work.kind !== 'run') unit.setMessages(claim, ref, now);
  const stored = { kind: 'stored', ref, ...replacedBy(unit, ref) } as const;
  if (over === null) return stored;
  unit.parts.counter.hold(unit, over, ref);
  return { ...stored, over };
}

/** Absent if the new dispatch has ended no earlier run. */
function replacedBy(unit: WorkUnit, ref: Ref): { readonly replaced?: Ref[] } {
  const replaced = unit.replacedBy.get(ref);
  return replaced === undefined ? {} : { replaced: [...replaced] };
}

/** True if the message has a row, which a further attempt would continue immediately. */
const isKnown = ({ rows }: WorkUnit, claim: StoredClaim | null): boolean =>
  claimKeys(claim).some((name) => rows.messages.get(rows.keyOf(name)) !== undefined);

/** Stores a dispatch in its coalesce group; the dispatch that it replaces is skipped. */
function join(unit: WorkUnit, m: Headed<JoinGroup>, texts: LargeTexts): MutationResults['join_group'] {
  const { dispatch, limits, max_concurrent, now } = m;
  const { rows } = unit;
  if (unit.isClaimed(m.claim, now)) return { kind: 'duplicate' };
  const key = rows.keyOf(groupKey(dispatch.profile, dispatch.route, m.key));
  const waiting = rows.groups.get(key);
  const before = waiting === undefined ? undefined : rows.work.get(waiting);
  if (before === undefined) {
    const over = unit.parts.counter.count(unit, m.run_limits ?? [], now);
    // It waits alone: a group would be due too early.
    if (over?.holds === true) {
      unit.claim(m.claim);
      const due_at = over.until ?? now;
      const ref = unit.insert({ head: dispatch, texts, max_concurrent, state: 'pending', due_at, now });
      unit.parts.counter.hold(unit, over, ref);
      return { kind: 'stored', ref, superseded: 0, due_at, over, ...replacedBy(unit, ref) };
    }
    if (over !== null) return over;
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
  // An event of a burst that keeps all is in the prompt of the next one.
  const reason = `${dispatch.burst ? 'merged into' : 'superseded by'} ${dispatch.id}`;
  if (before !== undefined) unit.move(before, { to: 'skipped', at: now, reason });
  return { kind: 'stored', ref, superseded, due_at, ...replacedBy(unit, ref) };
}

export const groupKey = (profile: string, route: string | null, key: string): string =>
  JSON.stringify([profile, route ?? '', key]);

/** Moves a dispatch to a state; false if it is unknown, held by another process, or has ended. */
function advance(unit: WorkUnit, m: Headed<Advance>, { answer, body }: LargeTexts): MutationResults['advance'] {
  const { ref, to, at, started_at = null, reason = null, steps = [] } = m;
  const row = unit.rows.work.get(ref);
  if (row === undefined || row.holder !== m.holder || !canAdvance(row.state, m)) return false;
  const due_at = to === 'pending' ? (m.due_at ?? at) : null;
  const program = m.program === undefined ? null : JSON.stringify(m.program);
  if (m.usage !== undefined) unit.newUsage.push({ ...m.usage, ref, at });
  if (m.dispatch !== undefined && body !== null) {
    const { targets } = m.dispatch;
    const head = headText(m.dispatch, (JSON.parse(body) as Dispatch).superseded);
    unit.changedBodies.push({ ref, lane: routeLane(row.lane), head, targets, body, grown: m.grown ?? 0 });
  }
  if (m.usage !== undefined) unit.parts.counter.spend(unit, m.limits ?? [], m.usage, at);
  unit.move(row, { to, at, due_at, started_at, reason, answer, program, steps });
  if (m.held === true) row.holder = m.holder;
  else if (to === 'delivering') {
    unit.addDeliveries(ref, laneParts(row.lane).profile, m.open ?? [], at);
  }
  unit.claim(m.claim);
  if (m.message !== undefined)
    unit.insertMessage(headOf(m.message), { body: JSON.stringify(m.message), answer: null }, at);
  if (reason !== null && to !== 'skipped') unit.noteError(ref, at, reason);
  return to === 'pending' && row.state === 'skipped' ? 'superseded' : true;
}

/** Records an attempt; null where `advance` returns false. */
function recordAttempt(unit: WorkUnit, m: RecordAttempt): MutationResults['record_attempt'] {
  const { ref, at, step, due_at } = m;
  const row = unit.rows.work.get(ref);
  const delivery = unit.heldDelivery(ref, m.index, m.holder);
  if (row === undefined || delivery === null) return null;
  if (due_at !== null) unit.retryDelivery(delivery, due_at, setAt(delivery, due_at, at));
  const isLeft = due_at !== null || unit.endDelivery(delivery);
  const steps = step === null ? [] : [step];
  const all = [...unit.stepsOf(row), ...steps];
  const ended = isLeft ? null : endingOf(unit, ref, all);
  const reason = ended === null ? (step?.reason ?? null) : ended.reason;
  if (step !== null || ended !== null) unit.move(row, { to: ended?.state ?? 'delivering', at, reason, steps });
  if (reason !== null && !isRejected(all, m.index)) unit.noteError(ref, at, reason);
  if (ended !== null && m.key !== undefined) settleClaim(unit, ref, m.key, ended.state !== 'dead', at);
  return ended ?? { state: 'delivering', reason: null };
}

/** Ends a dispatch whose stored values are damaged; false if it is unknown or has ended. */
function giveUp(unit: WorkUnit, { ref, at, reason }: GiveUp): boolean {
  const row = unit.rows.work.get(ref);
  if (row === undefined) return false;
  for (const delivery of [...(unit.rows.deliveries.get(ref)?.values() ?? [])]) unit.endDelivery(delivery);
  unit.move(row, { to: 'dead', at, reason });
  unit.noteError(ref, at, reason);
  return true;
}

/** Replaces a row of the guard if it is still as expected; otherwise returns false. */
function putGuard(unit: WorkUnit, m: Headed<PutGuard>, texts: LargeTexts): boolean {
  const { row, expect, body, expires_at, dispatch: head, held, by, now } = m;
  if ((unit.guardRow(row) ?? null) !== expect) return false;
  unit.putGuardRow({ ...row, body }, expires_at);
  if (head !== null) unit.insertMessage(head, texts, now);
  const run = held === undefined ? undefined : unit.rows.work.get(held.ref);
  if (run?.state !== 'pending') return true;
  const isDropped = held?.drop === true;
  const steps = by === undefined ? [] : [actionStep({ outcome: isDropped ? 'dropped' : 'released', at: now, by })];
  const change = isDropped
    ? ({ to: 'skipped', at: now, reason: 'loop' } as const)
    : ({ to: 'pending', at: now, due_at: now } as const);
  unit.move(run, { ...change, steps });
  return true;
}

/** The final state after the last delivery. The targets are read only when an attempt has failed. */
function endingOf({ rows }: WorkUnit, ref: Ref, steps: readonly Step[]): DeliveryEnding {
  const hasFailed = steps.some(({ kind, outcome }) => kind === 'delivery' && outcome !== 'ok');
  return endDelivering(hasFailed ? rows.targetsOf(ref) : [], steps);
}

/** The changes that are decided over the rows of a unit of work; an engine makes the others with its own statements. */
export type UnitKind =
  | 'accept'
  | 'join_group'
  | 'advance'
  | 'record_attempt'
  | 'give_up'
  | 'change_delivery'
  | 'resend'
  | 'put_guard'
  | 'pause_route'
  | 'begin_run'
  | 'tick_job'
  | 'fire_job';
export type DirectKind = Exclude<MutationKind, UnitKind>;

type Of<K extends MutationKind> = Headed<Extract<Mutation, { kind: K }>>;
export type UnitChange = Of<UnitKind>;
export type DirectChange<K extends DirectKind = DirectKind> = Of<K>;

/** The changes that an engine of one process makes with its own statements. */
export type DirectHandlers = { readonly [K in DirectKind]: (change: DirectChange<K>) => MutationResults[K] };

const CHANGES: {
  readonly [K in UnitKind]: (unit: WorkUnit, change: Of<K>, texts: LargeTexts) => MutationResults[K];
} = {
  accept,
  join_group: join,
  advance,
  record_attempt: recordAttempt,
  give_up: giveUp,
  change_delivery: changeDelivery,
  resend,
  put_guard: putGuard,
  pause_route: changePause,
  begin_run: beginRun,
  tick_job: tick,
  fire_job: fire,
};

export const isUnitChange = (change: Headed<Mutation>): change is UnitChange => Object.hasOwn(CHANGES, change.kind);

/** Makes the change in the rows of the unit; returns its result. */
export function applyToUnit(unit: WorkUnit, change: UnitChange, texts: LargeTexts): MutationResults[UnitKind] {
  const apply = CHANGES[change.kind] as (
    unit: WorkUnit,
    change: UnitChange,
    texts: LargeTexts,
  ) => MutationResults[UnitKind];
  return apply(unit, change, texts);
}

/** The reason of a dispatch that is dead because its process ended while the sender waited. */
export const UNANSWERED = 'the gateway stopped before the target responded: the delivery may have arrived';

/** A dispatch whose holder does not work on it. `has_begun`: false if the holder never knew that it had taken it. */
export interface LeftWork {
  readonly ref: Ref;
  readonly has_begun: boolean;
}

/** Returns runs to `pending`; a dispatch that was held for its sender becomes dead. */
export function release(unit: WorkUnit, left: readonly LeftWork[], now: number): Pick<Recovered, 'runs' | 'given_up'> {
  const given_up: GivenUp[] = [];
  let runs = 0;
  for (const { ref, has_begun } of left) {
    const row = unit.rows.work.get(ref);
    // Another gateway has already released it.
    if (row === undefined || row.holder === null) continue;
    if (row.state === 'running') {
      runs++;
      const reason = decodeOr<string | null>(row.reason, isText, null);
      const steps = has_begun ? [interruptedStep(row.started_at ?? now, now)] : [];
      unit.move(row, { to: 'pending', at: now, reason, steps });
      continue;
    }
    const { id = '', profile = '', route = null, job = null } = unit.rows.headOf(ref) ?? {};
    unit.move(row, { to: 'dead', at: now, reason: UNANSWERED });
    unit.noteError(ref, now, UNANSWERED);
    given_up.push({ id, profile, route, job, reason: UNANSWERED });
  }
  return { runs, given_up };
}
