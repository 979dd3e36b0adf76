/**
 * Loops: how many runs a key may have within a time. A key with more is paused, and its events are ignored; without a pause, in
 * an exchange with another installation, what is refused counts too. One row of the guard has the latest runs of a key.
 */
import { createHash } from 'node:crypto';
import { targetLabel } from '../../../base/text.ts';
import type { LimitedEvent } from '../../../runtime/dispatch/dispatcher.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { decodeOr, isInstant, isText, orNull } from '../../../runtime/store/decode.ts';
import type { GuardRow } from '../../../runtime/store/records.ts';
import type { GuardRows, OverLimit } from '../../../runtime/store/run-limits.ts';
import { bounded } from '../../../runtime/table/link-identity.ts';
import type { LoopLimit } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, DispatchDelivery, RouteTable } from '../../../schemas/generated/types.ts';

const MINUTE_MS = 60_000;
const WITHIN_MS = 10 * MINUTE_MS;
const PAUSE_MS = 60 * MINUTE_MS;
/** Most events of a key within ten minutes that another installation has caused. */
const MOST_EXCHANGES = 3;

/** Runs are counted by session, else by coalesce key, else by where the answer goes, if it can come back as an event of the sender. */
export function loopLimits(
  { targets }: Pick<RouteTable, 'targets'>,
  { mode, deliveries, session_key = null, session }: Dispatch,
  { route: { plan }, scheme, coalesceKey, isExchange }: LimitedEvent,
): readonly LoopLimit[] {
  if (mode === 'direct' || mode === 'job') return [];
  const { profile, name, insecure, source, loop_limit } = plan;
  const ofRoute = (key: RunKey['key']): RunKey => ({ profile, route: name, key });
  // Without a signature the route's source says what the event is.
  const sender = insecure ? (source ?? '') : scheme;
  const comesBack = (target: string): boolean =>
    Object.hasOwn(targets, target) && targets[target]?.comes_back?.includes(sender) === true;
  const back = deliveries.filter(({ target }) => comesBack(target));
  const isShared = session_key !== null && plan.session?.scope != null;
  const own = session_key ?? coalesceKey ?? (back.length === 0 ? null : back.map(placeOf));
  const key = isShared ? { profile, route: null, key: session } : own === null ? null : ofRoute(own);
  const exchange = isExchange ? (key ?? ofRoute(deliveries.map(placeOf))) : null;
  return [
    ...(exchange === null ? [] : [limitOf('exchange', exchange, MOST_EXCHANGES, 0)]),
    ...(key === null ? [] : [limitOf('runs', key, loop_limit, PAUSE_MS)]),
  ];
}

const limitOf = (kind: LoopLimit['kind'], of: RunKey, most: number, pause_ms: number): LoopLimit => ({
  kind,
  key: JSON.stringify([of.profile, of.route, of.key]),
  most,
  within_ms: WITHIN_MS,
  pause_ms,
});

const placeOf = (delivery: DispatchDelivery): readonly string[] => [
  targetLabel(delivery),
  ...Object.values(delivery.extra).map(bounded),
];

/** The body of a row. */
export interface RunTimes {
  /** Unix ms of the latest runs, oldest first. */
  readonly times: readonly number[];
  /** Unix ms at which the pause ends; null: it is not paused. */
  readonly until: number | null;
}

const NO_RUNS: RunTimes = { times: [], until: null };

export function isRunTimes(value: unknown): value is RunTimes {
  const { times, until } = (value ?? {}) as Partial<RunTimes>;
  return Array.isArray(times) && times.every(isInstant) && (until === null || isInstant(until));
}

/** Counts a run, or returns the limit that it is beyond. A clock that was set back never makes a pause longer. */
export function countInLoops(rows: GuardRows, limits: readonly LoopLimit[], now: number): OverLimit | null {
  const counted = limits.map((limit) => countedFor(limit, rows.guardRow(limit), now));
  const over = counted.find(({ until, times, limit }) => until !== null || times.length >= limit.most);
  if (over === undefined) {
    for (const { limit, times } of counted) put(rows, limit, { times: [...times, now], until: null }, now);
    return null;
  }
  const { limit, times } = over;
  const until = over.until ?? (limit.pause_ms > 0 ? now + limit.pause_ms : null);
  if (until !== over.until) put(rows, limit, { times: [], until }, now);
  // Without a pause, what is refused counts too: the exchange goes on.
  if (until === null) put(rows, limit, { times: [...times.slice(1), now], until }, now);
  return { kind: 'over_limit', limit, reason: 'loop', until, first: false, detail: describeLoop(limit, until) };
}

interface Counted extends RunTimes {
  readonly limit: LoopLimit;
}

/** @param body of its row; undefined: there is none */
function countedFor(limit: LoopLimit, body: string | undefined, now: number): Counted {
  const { within_ms, pause_ms } = limit;
  const { times, until } = decodeOr(body, isRunTimes, NO_RUNS);
  const isPaused = until !== null && until > now && until <= now + pause_ms;
  return {
    limit,
    times: times.filter((at) => at > now - within_ms).map((at) => Math.min(at, now)),
    until: isPaused ? until : null,
  };
}

function put(rows: GuardRows, { kind, key, within_ms }: LoopLimit, times: RunTimes, now: number): void {
  rows.putGuardRow({ kind, key, body: JSON.stringify(times) }, Math.max(now + within_ms, times.until ?? 0));
}

function describeLoop({ kind, most, within_ms }: LoopLimit, until: number | null): string {
  const runs = `more than ${most} ${kind === 'runs' ? 'runs' : 'events that another hookwright has caused'}`;
  const pause = until === null ? '' : `: it is paused until ${new Date(until).toISOString()}`;
  return `${runs} for one key within ${within_ms / MINUTE_MS} minutes${pause}`;
}

/** What runs are counted by. */
export interface RunKey {
  readonly profile: string;
  /** Null: the key is a session of several routes. */
  readonly route: string | null;
  /** A session or coalesce key, a session id where `route` is null, or where answers go: a target and its address, each. */
  readonly key: string | readonly (readonly string[])[];
}

/** Null: the key of a row is damaged. */
export function readRunKey(stored: string): RunKey | null {
  const [profile, route, key] = decodeOr<readonly [string, string | null, RunKey['key']] | readonly []>(
    stored,
    isStored,
    [],
  );
  return profile === undefined || route === undefined || key === undefined ? null : { profile, route, key };
}

function isStored(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [profile, route, key] = value as readonly unknown[];
  return isText(profile) && orNull(isText)(route) && (isText(key) || (Array.isArray(key) && key.every(isPlace)));
}

const isPlace = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** `octo/shop#7`, or `github_comment octo/shop 7` for where answers go. */
export const runKeyText = ({ key }: RunKey): string =>
  typeof key === 'string' ? key : key.map((place) => place.join(' ')).join(', ');

/** Whose key it is, with it: `route answers (profile team) octo/shop#7`. */
export function runKeyName(of: RunKey): string {
  const { profile, route } = of;
  const where = profile === 'default' ? '' : ` (profile ${profile})`;
  return `${route === null ? 'session' : `route ${route}`}${where} ${runKeyText(of)}`;
}

/** A key that is paused because it has had more runs than its limit. */
export interface PausedKey {
  /** Of the key, short enough to be typed. */
  readonly id: string;
  readonly of: RunKey;
  /** Unix ms. */
  readonly until: number;
  /** As it is stored. */
  readonly row: GuardRow;
}

/** @param now Unix ms */
export async function pausedKeys(store: Pick<Store, 'read'>, now: number): Promise<readonly PausedKey[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'runs', paused: true });
  return rows.flatMap((row): readonly PausedKey[] => {
    const { until } = decodeOr(row.body, isRunTimes, NO_RUNS);
    const of = readRunKey(row.key);
    if (until === null || until <= now || of === null) return [];
    const id = createHash('sha256').update(row.key).digest('hex').slice(0, 10);
    return [{ id, of, until, row }];
  });
}
