/**
 * What the guard keeps: small rows by kind and key, whose bodies are JSON. The store compares and replaces them, together
 * with the message that the change is worth, and it counts runs against their limits in the change that stores a run.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import { decodeOr, isInstant, isText } from './decode.ts';

/**
 * `installation`: the id of this installation, key '', and the key of its status URLs, key 'status_key'. `alert`: an alert that lasts. `runs`: the latest runs of a session or
 * coalesce key. `exchange`: the latest events of a key that another installation has caused. `budget`: what was spent of one
 * (budget.ts). `pause`: a route that holds its events (pauses.ts), which only `pause_route` changes. `session`: from where on
 * an agent is told what was said in a session (said.ts). `logout`: a login of the console that was ended before its time.
 */
const OF_EVENTS = ['runs', 'exchange', 'budget', 'pause', 'session'] as const;
export const GUARD_KINDS = ['installation', 'alert', 'logout', ...OF_EVENTS] as const;
export type GuardKind = (typeof GUARD_KINDS)[number];

export interface GuardRow {
  readonly kind: GuardKind;
  readonly key: string;
  /** JSON. */
  readonly body: string;
}

/** Replaces a row if it is still as expected, and stores a message with it. */
export interface PutGuard {
  readonly kind: 'put_guard';
  readonly row: Pick<GuardRow, 'kind' | 'key'>;
  /** The body as it was read; null: there is no row. */
  readonly expect: string | null;
  /** Null: the row is removed. */
  readonly body: string | null;
  /** Unix ms from which it may be removed; null: never. */
  readonly expires_at: number | null;
  /** A message, due at once, whose targets are its deliveries. */
  readonly dispatch: Dispatch | null;
  readonly now: number;
}

/** Most runs of a key within a time. A run beyond them is refused, and the key with it for `pause_ms`. */
export interface RunLimit {
  readonly kind: Extract<GuardKind, 'runs' | 'exchange'>;
  readonly key: string;
  readonly most: number;
  readonly within_ms: number;
  /** 0: the key is not paused. */
  readonly pause_ms: number;
}

/** The body of a row that counts runs. */
export interface RunTimes {
  /** Unix ms of the latest runs, oldest first. */
  readonly times: readonly number[];
  /** Unix ms at which the pause ends; null: it is not paused. */
  readonly until: number | null;
}

/** How the body of a row that counts runs ends if its key is not paused. */
export const NOT_PAUSED = '"until":null}';

export const guardKey = ({ kind, key }: Pick<GuardRow, 'kind' | 'key'>): string => JSON.stringify([kind, key]);

/** A stored row; none if its key is damaged. @param key JSON */
export function readGuard(kind: GuardKind, key: string, body: string): readonly GuardRow[] {
  const name = decodeOr<string | null>(key, isText, null);
  return name === null ? [] : [{ kind, key: name, body }];
}

export function isRunTimes(value: unknown): value is RunTimes {
  const { times, until } = (value ?? {}) as Partial<RunTimes>;
  return Array.isArray(times) && times.every(isInstant) && (until === null || isInstant(until));
}
