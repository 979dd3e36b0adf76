/** Stores and advances dispatches, in the store in memory. */

import { runCounter } from '../../../modules/guard/runtime/run-limits.ts';
import type {
  Accept,
  Advance,
  GiveUp,
  JoinGroup,
  MutationResults,
  OpenDelivery,
  RecordAttempt,
} from '../../../runtime/store/contract.ts';
import { canAdvance, endDelivering, isFinal, isRejected, joinGroup } from '../../../runtime/store/states.ts';
import { addUsage } from '../../../runtime/store/usage.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { guardRows, pauseFor } from './guard.ts';
import type { MutationHandlers } from './handlers.ts';
import { continueMessage } from './messages.ts';
import type { DispatchRow, MemoryTables } from './tables.ts';
import {
  claim,
  insert,
  isClaimed,
  isReplaced,
  move,
  nameOf,
  namesOf,
  replaceEarlier,
  setMessage,
  skipReplaced,
} from './tables.ts';

export function dispatchHandlers(
  tables: MemoryTables,
): Pick<MutationHandlers, 'accept' | 'join_group' | 'advance' | 'record_attempt' | 'give_up'> {
  return {
    accept: (m) => accept(tables, m),
    join_group: (m) => join(tables, m),
    advance: (m) => advance(tables, m),
    record_attempt: (m) => recordAttempt(tables, m),
    give_up: (m) => giveUp(tables, m),
  };
}

function accept(tables: MemoryTables, m: Accept): MutationResults['accept'] {
  const { dispatch, max_concurrent, now, work } = m;
  if (isClaimed(tables, m.claim, now)) return { kind: 'duplicate' };
  const pause = work.kind === 'run' ? null : pauseFor(tables, dispatch, now);
  const isKnown = namesOf(m.claim).some((name) => tables.messages.has(name));
  if (pause !== null && (work.kind === 'held' || isKnown)) return { kind: 'route_paused', until: pause.until };
  const isPaused = pause !== null && work.kind === 'deliveries' && work.answer === null;
  const again = m.claim === null || work.kind === 'run' ? null : continueMessage(tables, m, m.claim);
  if (again !== null) return again;
  const over = runCounter.count(guardRows(tables), m.limits ?? [], now);
  if (over !== null && over.holds !== true) return over;
  if (m.claiming === 'now') claim(tables, m.claim);
  const waits = isPaused || over !== null;
  const state = work.kind === 'run' || waits ? 'pending' : 'delivering';
  const row = insert(tables, { dispatch, max_concurrent, state, due_at: over?.until ?? now, now });
  if (work.kind === 'held') row.holder = work.holder;
  if (work.kind === 'deliveries' && !waits) {
    if (work.answer !== null) Object.assign(row, { answer: work.answer, answered_at: now });
    addDeliveries(tables, row, work.open, now);
  }
  if (m.claim !== null && work.kind !== 'run') setMessage(tables, m.claim, row.ref, now);
  const stored = { kind: 'stored', ref: row.ref, ...replaceEarlier(tables, row, now) } as const;
  if (over === null) return stored;
  runCounter.hold(guardRows(tables), over, row.ref);
  return { ...stored, over };
}

function join(tables: MemoryTables, m: JoinGroup): MutationResults['join_group'] {
  const { profile, route, id } = m.dispatch;
  if (isClaimed(tables, m.claim, m.now)) return { kind: 'duplicate' };
  const name = nameOf(profile, route, m.key);
  const before = tables.groups.get(name) ?? null;
  if (before === null) {
    const over = runCounter.count(guardRows(tables), m.run_limits ?? [], m.now);
    if (over?.holds === true) {
      claim(tables, m.claim);
      const { dispatch, max_concurrent, now } = m;
      const due_at = over.until ?? now;
      const row = insert(tables, { dispatch, max_concurrent, state: 'pending', due_at, now });
      const { ref } = row;
      runCounter.hold(guardRows(tables), over, ref);
      return { kind: 'stored', ref, superseded: 0, due_at, over, ...replaceEarlier(tables, row, now) };
    }
    if (over !== null) return over;
  }
  claim(tables, m.claim);
  const group = joinGroup(before, m.now, m.limits);
  const { superseded, due_at } = group;
  const dispatch = { ...m.dispatch, superseded };
  const rest = { max_concurrent: m.max_concurrent, state: 'pending', due_at, now: m.now, group: name } as const;
  const replaced = before === null ? undefined : tables.dispatches.get(before.ref);
  const row = insert(tables, { dispatch, ...rest, replaced });
  const { ref } = row;
  const ended = replaceEarlier(tables, row, m.now);
  tables.groups.set(name, { ...group, ref });
  if (replaced !== undefined) {
    move(tables, replaced, 'skipped');
    Object.assign(replaced, {
      finished_at: m.now,
      reason: `${m.dispatch.burst == null ? 'superseded by' : 'merged into'} ${id}`,
    });
  }
  return { kind: 'stored', ref, superseded, due_at, ...ended };
}

function advance(tables: MemoryTables, m: Advance): MutationResults['advance'] {
  const row = tables.dispatches.get(m.ref);
  if (row === undefined || row.holder !== m.holder || !canAdvance(row.state, m)) return false;
  const ends = m.to === 'pending' && isReplaced(tables, row);
  move(tables, row, m.to);
  row.holder = null;
  row.reason = m.reason ?? null;
  row.steps = [...row.steps, ...(m.steps ?? [])];
  row.started_at = m.started_at ?? row.started_at;
  if (m.usage !== undefined) runCounter.spend(guardRows(tables), m.limits ?? [], m.usage, m.at);
  if (m.usage !== undefined) {
    const { agent, ...usage } = m.usage;
    tables.usage.push({ ...usage, agent, ref: m.ref, at: m.at });
    row.usage = row.usage === null ? usage : addUsage(row.usage, usage);
  }
  if (m.answer !== undefined) Object.assign(row, { answer: m.answer, program: m.program ?? null, answered_at: m.at });
  if (m.dispatch !== undefined) row.dispatch = m.dispatch;
  if (m.to === 'pending') Object.assign(row, { due_at: m.due_at ?? m.at, set_at: m.at });
  if (m.reason !== undefined && m.to !== 'skipped') noteError(tables, row, m.at, m.reason);
  if (m.held === true) row.holder = m.holder;
  else if (isFinal(m.to)) row.finished_at = m.at;
  else if (m.to === 'delivering') addDeliveries(tables, row, m.open ?? [], m.at);
  claim(tables, m.claim);
  if (m.message !== undefined) addMessage(tables, m.message, m.at);
  if (ends) skipReplaced(tables, row, m.at);
  return ends ? 'superseded' : true;
}

/** A message of the gateway itself, due immediately. */
export function addMessage(tables: MemoryTables, dispatch: Dispatch, now: number): void {
  const stored = insert(tables, { dispatch, state: 'delivering', due_at: now, now });
  const open = dispatch.deliveries.map(({ target }, index) => ({ index, target, due_at: now }));
  addDeliveries(tables, stored, open, now);
}

function recordAttempt(tables: MemoryTables, m: RecordAttempt): MutationResults['record_attempt'] {
  const row = tables.dispatches.get(m.ref);
  const attempts = [...tables.deliveries];
  const attempt = attempts.find(({ ref, index, holder }) => ref === m.ref && index === m.index && holder === m.holder);
  if (row === undefined || attempt === undefined) return null;
  if (m.step !== null) {
    row.steps = [...row.steps, m.step];
    row.reason = m.step.reason;
    if (m.step.reason !== null && !isRejected(row.steps, m.index)) noteError(tables, row, m.at, m.step.reason);
  }
  if (m.due_at !== null) {
    const set_at = attempt.holds === 'waits' ? attempt.set_at : attempt.holds === null ? m.at : m.due_at;
    Object.assign(attempt, { due_at: m.due_at, set_at, holder: null });
    return { state: 'delivering', reason: null };
  }
  tables.deliveries.delete(attempt);
  if (attempts.some(({ ref, index }) => ref === m.ref && index !== m.index))
    return { state: 'delivering', reason: null };
  const end = endDelivering(row.dispatch.deliveries, row.steps);
  move(tables, row, end.state);
  Object.assign(row, { finished_at: m.at, reason: end.reason });
  if (end.reason !== null && !isRejected(row.steps, m.index)) noteError(tables, row, m.at, end.reason);
  for (const name of namesOf(m.key)) {
    const message = tables.messages.get(name);
    if (message?.ref === row.ref) tables.claims.set(name, end.state === 'dead' ? m.at : m.at + message.ttl_ms);
  }
  return end;
}

function giveUp(tables: MemoryTables, { ref, at, reason }: GiveUp): boolean {
  const row = tables.dispatches.get(ref);
  if (row === undefined || isFinal(row.state)) return false;
  for (const delivery of [...tables.deliveries]) if (delivery.ref === ref) tables.deliveries.delete(delivery);
  move(tables, row, 'dead');
  Object.assign(row, { finished_at: at, holder: null, reason });
  noteError(tables, row, at, reason);
  return true;
}

export function addDeliveries(
  tables: MemoryTables,
  row: DispatchRow,
  open: readonly OpenDelivery[],
  now: number,
): void {
  for (const { index, target, due_at, blocked_by } of open) {
    const lane = nameOf(row.profile, target);
    const holds = blocked_by === undefined ? null : 'waits';
    tables.deliveries.add({ ref: row.ref, index, lane, due_at, set_at: now, holder: null, holds, toldAt: null });
  }
}

export function noteError(tables: MemoryTables, { id, route }: DispatchRow, at: number, reason: string): void {
  tables.lastError = { id, route, at, reason };
}
