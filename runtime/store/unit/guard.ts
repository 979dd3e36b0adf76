/** Runs counted against their limits, and the rows that the guard replaces. */
import { decodeOr } from '../decode.ts';
import type { Headed, LargeTexts } from '../encode.ts';
import type { GuardRow, PutGuard, RunLimit, RunTimes } from '../guard-mutations.ts';
import { guardKey, isRunTimes } from '../guard-mutations.ts';
import type { OverLimit } from '../mutations.ts';
import type { WorkUnit } from './unit.ts';

const NO_RUNS: RunTimes = { times: [], until: null };

/** Counts a run, or returns the limit that it is beyond. A clock that was set back never makes a pause longer. */
export function countRun(unit: WorkUnit, limits: readonly RunLimit[] = [], now: number): OverLimit | null {
  const counted = limits.map((limit) => ({ limit, ...timesOf(unit, limit, now) }));
  const over = counted.find(({ until, times, limit }) => until !== null || times.length >= limit.most);
  if (over === undefined) {
    for (const { limit, times } of counted) put(unit, limit, { times: [...times, now], until: null }, now);
    return null;
  }
  const { limit } = over;
  const until = over.until ?? (limit.pause_ms > 0 ? now + limit.pause_ms : null);
  if (until !== over.until) put(unit, limit, { times: [], until }, now);
  // Without a pause, what is refused counts too: the exchange goes on.
  if (until === null) put(unit, limit, { times: [...over.times.slice(1), now], until }, now);
  return { kind: 'over_limit', limit, until };
}

function timesOf({ rows }: WorkUnit, { within_ms, pause_ms, ...of }: RunLimit, now: number): RunTimes {
  const { times, until } = decodeOr(rows.guard.get(rows.keyOf(guardKey(of))), isRunTimes, NO_RUNS);
  const isPaused = until !== null && until > now && until <= now + pause_ms;
  return {
    times: times.filter((at) => at > now - within_ms).map((at) => Math.min(at, now)),
    until: isPaused ? until : null,
  };
}

function put(unit: WorkUnit, { kind, key, within_ms }: RunLimit, times: RunTimes, now: number): void {
  const expires_at = Math.max(now + within_ms, times.until ?? 0);
  putGuardRow(unit, { kind, key, body: JSON.stringify(times) }, expires_at);
}

/** Replaces a row that is still as expected; false if it is not. */
export function putGuard(unit: WorkUnit, m: Headed<PutGuard>, texts: LargeTexts): boolean {
  const { rows } = unit;
  const { row, expect, body, expires_at, dispatch: head, now } = m;
  if ((rows.guard.get(rows.keyOf(guardKey(row))) ?? null) !== expect) return false;
  putGuardRow(unit, { ...row, body }, expires_at);
  if (head !== null) unit.insertMessage(head, texts, now);
  return true;
}

type Change = Omit<GuardRow, 'body'> & { readonly body: string | null };

/** Replaces a row, or removes it. @param expires_at Unix ms from which it may go; null: never */
export function putGuardRow({ rows, changedGuard }: WorkUnit, row: Change, expires_at: number | null): void {
  const key = rows.keyOf(guardKey(row));
  const known = changedGuard.get(key)?.known ?? rows.guard.get(key) !== undefined;
  changedGuard.set(key, { ...row, expires_at, known });
  if (row.body === null) rows.guard.delete(key);
  else rows.guard.set(key, row.body);
}
