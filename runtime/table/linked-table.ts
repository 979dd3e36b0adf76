/** What linking makes of a table: everything a request needs, already decided, for intake. Immutable once built. */
import type { LocatorPlan, RoutePlan } from '../../schemas/generated/types.ts';
import type { RateWindow } from '../intake/rate-limit.ts';
import type { Authenticator } from '../verify/authenticator.ts';
import type { AnswerHandshake } from '../verify/handshake.ts';
import type { ListFile } from './in-file-set.ts';
import type { MatchFilter } from './link-filter.ts';
import type { RenderKey, RenderTemplate } from './link-template.ts';

export interface LinkedRoute {
  readonly plan: RoutePlan;
  /** Kept from table to table. */
  readonly window: RateWindow;
  readonly limits: RouteLimits;
  readonly authenticator: Authenticator;
  /** Of the source, when it has one. */
  readonly handshake: AnswerHandshake | null;
  /** Accepted schemes that should not be used any more, and why. */
  readonly deprecated: ReadonlyMap<string, string>;
  readonly identity: Identity;
  readonly acceptsEvent: (event: string) => boolean;
  readonly matches: MatchFilter | null;
  /** Those that `matches` looks into: to be refreshed before it is asked. */
  readonly lists: readonly ListFile[];
  readonly script: LinkedScript | null;
  readonly prompt: RenderTemplate;
  readonly deliveries: readonly LinkedDelivery[];
  readonly coalesce: LinkedCoalesce | null;
}

export interface RouteLimits {
  readonly maxBodyBytes: number;
  readonly directTimeoutMs: number;
  readonly idempotencyTtlMs: number;
}

/** Where a route's event type and delivery id are (§6.1, §6.2). */
export interface Identity {
  readonly event: readonly LocatorPlan[];
  /** Searched when `event` finds nothing; strings only. */
  readonly eventFallback: readonly LocatorPlan[];
  readonly delivery: readonly LocatorPlan[];
  /** A source says exactly where to look: numbers count there too. */
  readonly pinned: boolean;
  /** Without an id, a digest of the body is the id: the source has none to send. */
  readonly digest: boolean;
}

export interface LinkedScript {
  /** Program that reads the script. */
  readonly interpreter: string;
  /** Absolute. */
  readonly path: string;
  /** Absolute folder the script must be in. */
  readonly folder: string;
  readonly timeoutMs: number;
}

export interface LinkedDelivery {
  readonly target: string;
  readonly extra: readonly (readonly [key: string, render: RenderTemplate])[];
}

export interface LinkedCoalesce {
  readonly key: RenderKey;
  readonly windowMs: number;
  readonly maxWaitMs: number;
}
