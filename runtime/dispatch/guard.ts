/** The guard: what it hears of, what it is opened with, and the conditions that operators are told of. A module implements it. */
import type { LastingAlert } from '../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Deliverer } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { DispatchObserver } from './observer.ts';

/** Something that fails, by its kind and what it is about. */
export type AlertCondition = Pick<LastingAlert, 'kind' | 'subject' | 'about' | 'until'>;

/** The state of the gateway that is looked at from time to time. */
export interface WatchedState {
  /** It accepts events. */
  readonly ready: boolean;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** Unix ms of the earliest instant of a job that has passed and not been handled; null: there is none. */
  readonly overdueJob: number | null;
}

export interface GuardContext {
  readonly store: Store;
  readonly deliverer: Pick<Deliverer, 'deliver'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** The table in service. */
  readonly table: () => RouteTable;
  readonly state: () => WatchedState;
  /** The URL of the heartbeat; null without one. */
  readonly heartbeatUrl: () => string | null;
  /** Call when work was stored. */
  readonly wake: () => void;
}

export interface Guard {
  readonly observer: DispatchObserver;
  /** A request of a route was answered. @param authentic null: neither a valid signature nor a wrong one */
  requested(route: string, authentic: boolean | null): void;
  /** A condition holds: the first time begins its alert. */
  raise(of: AlertCondition, reason: string): void;
  /** It does not hold any more. */
  clear(of: Pick<AlertCondition, 'kind' | 'subject'>): void;
  readonly lasting: readonly LastingAlert[];
  /** Stores a message that says it is a test, for where alerts go. Returns its id; null: the table has no alerts. */
  test(): Promise<string | null>;
  close(): Promise<void>;
}

export type OpenGuard = (context: GuardContext) => Guard;
