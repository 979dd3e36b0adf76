/** Runs counted against their limits, and the rows that the guard replaces. */
import { decodeOr } from '../decode.ts';
import type { Headed, LargeTexts } from '../encode.ts';
import type { OverLimit } from '../event-mutations.ts';
import type { GuardRow, PutGuard, RunLimit, RunTimes } from '../guard-mutations.ts';
import { guardKey, isRunTimes } from '../guard-mutations.ts';
import type { WorkUnit } from './unit.ts';

const NO_RUNS: RunTimes = { times: [], until: null };

/** Counts a run, or returns the limit that it is beyond. A clock that was set back never makes a pause longer. */
export function countRun(unit: WorkUnit, limits: readonly RunLimit[] = [], now: number): OverLimit | null {
  const { rows } = unit;
  const counted = limits.map((limit) => countedFor(limit, rows.guard.get(rows.keyOf(guardKey(limit))), now));
  const over = counted.find(isOver);
  if (over === undefined) {
    for (const { limit, times } of counted) put(unit, limit, { times: [...times, now], until: null }, now);
    return null;
  }
  const { limit } = over;
  const until = pausedUntil(over, now);
  if (until !== over.until) put(unit, limit, { times: [], until }, now);
  // Without a pause, what is refused counts too: the exchange goes on.
  if (until === null) put(unit, limit, { times: [...over.times.slice(1), now], until }, now);
  return { kind: 'over_limit', limit, until };
}

/** The limit that a run would be beyond; null: none. @param bodies of the stored rows, by `guardKey` */
export function overLimit(
  limits: readonly RunLimit[],
  bodies: ReadonlyMap<string, string>,
  now: number,
): OverLimit | null {
  const over = limits.map((limit) => countedFor(limit, bodies.get(guardKey(limit)), now)).find(isOver);
  return over === undefined ? null : { kind: 'over_limit', limit: over.limit, until: pausedUntil(over, now) };
}

interface Counted extends RunTimes {
  readonly limit: RunLimit;
}

const isOver = ({ until, times, limit }: Counted): boolean => until !== null || times.length >= limit.most;

const pausedUntil = ({ until, limit: { pause_ms } }: Counted, now: number): number | null =>
  until ?? (pause_ms > 0 ? now + pause_ms : null);

/** @param body of its row; undefined: there is none */
function countedFor(limit: RunLimit, body: string | undefined, now: number): Counted {
  const { within_ms, pause_ms } = limit;
  const { times, until } = decodeOr(body, isRunTimes, NO_RUNS);
  const isPaused = until !== null && until > now && until <= now + pause_ms;
  return {
    limit,
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
