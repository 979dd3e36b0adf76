/**
 * Loop limits: how many runs a key may have within a time. A key that exceeds its limit is paused: its events are stored, and due when
 * the pause ends or a person releases them. The limit for exchanges with another installation has no pause; there, events are rejected
 * and count too. A row stores the latest runs of a key, in thirds: a run for a person counts as one, any other as three.
 */
import { createHash } from 'node:crypto';
import { targetLabel, utcTime } from '../../../base/text.ts';
import type { LimitedEvent } from '../../../runtime/dispatch/dispatcher.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { decodeOr, isInstant, isText, orNull } from '../../../runtime/store/decode.ts';
import type { GuardRow, Ref } from '../../../runtime/store/records.ts';
import type { GuardRows, OverLimit } from '../../../runtime/store/run-limits.ts';
import { bounded } from '../../../runtime/table/link-identity.ts';
import type { LoopLimit } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, DispatchDelivery, RouteTable } from '../../../schemas/generated/types.ts';

const MINUTE_MS = 60_000;
const WITHIN_MS = 10 * MINUTE_MS;
const PAUSE_MS = 60 * MINUTE_MS;
/** Most events of a key within ten minutes that were caused by another installation. */
const MOST_EXCHANGES = 3;
const THIRDS = 3;
/** Most runs that a paused key holds; its further events are ignored, so that one key does not fill the queue. */
const MOST_HELD = 100;
/** Most of them that one author causes, so that a stranger cannot take all places. */
const MOST_HELD_OF_ONE = MOST_HELD / 2;

/** Counts runs by session, else by coalesce key, else by the address of the answer, if it can return as an event of the sender. */
export function loopLimits(
  { targets }: Pick<RouteTable, 'targets'>,
  { mode, deliveries, session_key = null, session }: Dispatch,
  { route: { plan }, scheme, coalesceKey, isExchange, author }: LimitedEvent,
): readonly LoopLimit[] {
  if (mode === 'direct' || mode === 'job') return [];
  const { profile, name, insecure, source, loop_limit } = plan;
  const ofRoute = (key: RunKey['key']): RunKey => ({ profile, route: name, key });
  // Without a signature, the source of the route identifies the sender.
  const sender = insecure ? (source ?? '') : scheme;
  const comesBack = (target: string): boolean =>
    Object.hasOwn(targets, target) && targets[target]?.comes_back?.includes(sender) === true;
  const back = deliveries.filter(({ target }) => comesBack(target));
  const isShared = session_key !== null && plan.session?.scope != null;
  const own = session_key ?? coalesceKey ?? (back.length === 0 ? null : back.map(addressOf));
  const key = isShared ? { profile, route: null, key: session } : own === null ? null : ofRoute(own);
  const exchange = isExchange ? (key ?? ofRoute(deliveries.map(addressOf))) : null;
  return [
    ...(exchange === null ? [] : [limitOf('exchange', exchange, MOST_EXCHANGES, { weight: THIRDS, pause_ms: 0 })]),
    ...(key === null ? [] : [limitOf('runs', key, loop_limit, { ...ofAuthor(author), pause_ms: PAUSE_MS })]),
  ];
}

const ofAuthor = ({ name, isPerson }: LimitedEvent['author']): Pick<LoopLimit, 'weight' | 'author'> => ({
  weight: isPerson ? 1 : THIRDS,
  ...(name === null ? {} : { author: shortDigest(name) }),
});

const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);

const limitOf = (
  kind: LoopLimit['kind'],
  of: RunKey,
  most: number,
  rest: Pick<LoopLimit, 'weight' | 'author' | 'pause_ms'>,
): LoopLimit => ({
  ...rest,
  kind,
  key: JSON.stringify([of.profile, of.route, of.key]),
  most,
  within_ms: WITHIN_MS,
});

const addressOf = (delivery: DispatchDelivery): readonly string[] => [
  targetLabel(delivery),
  ...Object.values(delivery.extra).map(bounded),
];

/** The stored body of a row. */
export interface RunTimes {
  /** Unix ms of the latest runs, oldest first, each as often as it counts. */
  readonly times: readonly number[];
  /** The waiting runs of a paused key. */
  readonly held?: readonly Ref[];
  /** The authors of those whose author is known. */
  readonly authors?: readonly string[];
  /** Unix ms at which the pause ends; null: not paused. */
  readonly until: number | null;
}

const NO_RUNS: RunTimes = { times: [], until: null };

export function isRunTimes(value: unknown): value is RunTimes {
  const { times, held = [], authors = [], until } = (value ?? {}) as Partial<RunTimes>;
  const isListed = [times, held].every((list) => Array.isArray(list) && list.every(isInstant));
  return isListed && Array.isArray(authors) && authors.every(isText) && (until === null || isInstant(until));
}

/** Counts a run, or returns the exceeded limit. Setting the clock back never extends a pause. */
export function countInLoops(rows: GuardRows, limits: readonly LoopLimit[], now: number): OverLimit | null {
  const counted = limits.map((limit) => countedFor(limit, rows.guardRow(limit), now));
  const over = counted.find(
    ({ until, times, limit }) => until !== null || times.length + limit.weight > limit.most * THIRDS,
  );
  if (over === undefined) {
    for (const { limit, times } of counted)
      put(rows, limit, { times: [...times, ...thirds(limit, now)], until: null }, now);
    return null;
  }
  const { limit, times, held, authors } = over;
  const until = over.until ?? (limit.pause_ms > 0 ? now + limit.pause_ms : null);
  if (until !== over.until) put(rows, limit, { times: [], until }, now);
  // Without a pause, rejected events count too, because the exchange continues.
  if (until === null) put(rows, limit, { times: [...times.slice(limit.weight), ...thirds(limit, now)], until }, now);
  const own = authors.filter((one) => one === limit.author).length;
  const holds = until !== null && held.length < MOST_HELD && own < MOST_HELD_OF_ONE;
  return { kind: 'over_limit', limit, reason: 'loop', until, first: false, holds, detail: describeLoop(limit, until) };
}

const thirds = ({ weight }: LoopLimit, now: number): readonly number[] => Array.from({ length: weight }, () => now);

/** Notes a run that its paused key holds. */
export function holdRun(rows: GuardRows, { limit, until }: OverLimit, ref: Ref): void {
  if (limit.kind === 'budget' || until === null) return;
  const { times, held = [], authors = [] } = decodeOr(rows.guardRow(limit), isRunTimes, NO_RUNS);
  const known = limit.author === undefined ? authors : [...authors, limit.author];
  put(rows, limit, { times, held: [...held, ref], authors: known, until }, until);
}

interface Counted extends Required<RunTimes> {
  readonly limit: LoopLimit;
}

/** @param body of the stored row, if any */
function countedFor(limit: LoopLimit, body: string | undefined, now: number): Counted {
  const { within_ms, pause_ms } = limit;
  const { times, held = [], authors = [], until } = decodeOr(body, isRunTimes, NO_RUNS);
  const isPaused = until !== null && until > now && until <= now + pause_ms;
  return {
    limit,
    held,
    authors,
    times: times.filter((at) => at > now - within_ms).map((at) => Math.min(at, now)),
    until: isPaused ? until : null,
  };
}

function put(rows: GuardRows, { kind, key, within_ms }: LoopLimit, times: RunTimes, now: number): void {
  rows.putGuardRow({ kind, key, body: JSON.stringify(times) }, Math.max(now + within_ms, times.until ?? 0));
}

function describeLoop({ kind, most, within_ms }: LoopLimit, until: number | null): string {
  const what = kind === 'runs' ? `runs, or ${most * THIRDS} for people,` : 'events caused by another hookwright';
  const runs = `more than ${most} ${what}`;
  const pause = until === null ? '' : `: paused until ${utcTime(until)}`;
  return `${runs} for one key within ${within_ms / MINUTE_MS} minutes${pause}`;
}

/** The key by which runs are counted. */
export interface RunKey {
  readonly profile: string;
  /** Null: the key is a session of several routes. */
  readonly route: string | null;
  /** A session or coalesce key; a session id if `route` is null; or the targets of answers, each with its address. */
  readonly key: string | readonly (readonly string[])[];
}

/** Decodes the key of a row; null if damaged. */
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
  return isText(profile) && orNull(isText)(route) && (isText(key) || (Array.isArray(key) && key.every(isAddress)));
}

const isAddress = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** `octo/shop#7`, or `github_comment octo/shop 7` for a target of answers. */
export const runKeyText = ({ key }: RunKey): string =>
  typeof key === 'string' ? key : key.map((address) => address.join(' ')).join(', ');

/** The key with its owner: `route answers (profile team) octo/shop#7`. */
export function runKeyName(of: RunKey): string {
  const { profile, route } = of;
  const where = profile === 'default' ? '' : ` (profile ${profile})`;
  return `${route === null ? 'session' : `route ${route}`}${where} ${runKeyText(of)}`;
}

/** A key that is paused because it exceeded its limit. */
export interface PausedKey {
  /** A short id of the key, to type. */
  readonly id: string;
  readonly of: RunKey;
  /** Unix ms. */
  readonly until: number;
  readonly held: readonly Ref[];
  /** The stored row. */
  readonly row: GuardRow;
}

/** @param now Unix ms */
export async function pausedKeys(store: Pick<Store, 'read'>, now: number): Promise<readonly PausedKey[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'runs', paused: true });
  return rows.flatMap((row): readonly PausedKey[] => {
    const { until, held = [] } = decodeOr(row.body, isRunTimes, NO_RUNS);
    const of = readRunKey(row.key);
    if (until === null || until <= now || of === null) return [];
    return [{ id: shortDigest(row.key), of, until, held, row }];
  });
}
