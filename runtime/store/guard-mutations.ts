/**
 * What the guard keeps: small rows by kind and key, whose bodies are JSON. The store compares and replaces them, together
 * with the message that the change is worth, and it counts runs against their limits in the change that stores a run.
 */
import { decodeOr, isInstant, isText } from './decode.ts';

export type {
  PutGuard,
  RunLimit,
} from '../../schemas/built/operations/types.ts';

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
