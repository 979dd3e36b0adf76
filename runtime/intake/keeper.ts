/**
 * Captured requests as data, and the interface of the store that captures them. It is called after each response and never
 * delays one. Captures contain no credentials.
 */
import { isUtf8 } from 'node:buffer';
import { messageOf } from '../../base/errors.ts';
import type {
  FoundRequest,
  KeptFilter,
  KeptPage,
  KeptRequest,
  RequestSummary,
} from '../../schemas/built/operations/types.ts';
import type { PrintedRequest, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Lazy } from '../platform/lazy.ts';
import type { Logger } from '../platform/log.ts';
import type { RequestRows } from '../store/shared.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import type { Intake, Services } from './intake.ts';
import type { Watcher } from './pipeline.ts';
import type { Reply } from './reply.ts';
import type { IntakeRequest } from './unverified-bodies.ts';

/**
 * A captured request as data, for `requests`, `explain`, `diff` and the control socket. It contains no credentials. Whether its
 * signature was valid was decided when it arrived.
 */

export type { KeptHead } from '../../schemas/built/operations/types.ts';

/** Reads captured requests, from a running server or from a home's file. */
export interface CapturedRequests {
  list(filter: KeptFilter, page: KeptPage): Promise<readonly RequestSummary[]>;
  /** @param id an id, or a prefix of one */
  load(id: string): Promise<FoundRequest>;
  close(): Promise<void>;
}

/**
 * A captured request as `requests show --json` and the console show it, with a text body as text. @param next what to do about
 * it
 */
export function printedRequest({ body, headers, events, ...rest }: KeptRequest, next: string | null): PrintedRequest {
  const bytes = body === null ? null : Buffer.from(body, 'base64');
  const isText = bytes !== null && isUtf8(bytes);
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  return {
    ...rest,
    ...(events === undefined ? {} : { events: [...events] }),
    next,
    headers: pairs,
    body: isText ? bytes.toString('utf8') : null,
    body_base64: isText ? null : body,
  };
}

/**
 * Captures an answered request if its route is configured for that and there is room. Returns its id, or null if it is not
 * captured. Never throws, and never delays a response.
 * @param replayOf id of the captured request that it repeats
 */
export type CaptureRequest = (intake: Intake, reply: Reply, replayOf?: string | null) => string | null;

/** Captures an event that was sent to an unknown path, without its body. @param nearest path of the most similar route */
export type CaptureMiss = (request: IntakeRequest, nearest: string | null) => void;

/**
 * Numbers of captured requests since the start, and of requests that could not be captured although their route is configured
 * for it.
 */
export interface CaptureCounts {
  readonly kept: number;
  /** `rate`: over the route's rate. `queue`: the writer is behind. `failed`: they could not be stored. */
  readonly dropped: Readonly<Record<'rate' | 'queue' | 'failed', number>>;
}

/** A request that passes the stages without a connection. */
export interface StagedRequest {
  readonly intake: Intake;
  readonly services: Services;
  readonly watcher: Watcher;
}

export interface CaptureStore {
  readonly keep: CaptureRequest;
  readonly keepMiss: CaptureMiss;
  /** The captured requests, including those that were just answered. */
  readonly requests: Omit<CapturedRequests, 'close'>;
  readonly counts: CaptureCounts;
  /** Why a captured request cannot be replayed; null if it can. */
  whyNotReplayable(kept: KeptRequest): string | null;
  /** Prepares the replay of a replayable request. It does not count against the rate limit. */
  replay(kept: KeptRequest, route: LinkedRoute, services: Services): StagedRequest;
  /** Stores waiting captures, and closes. */
  close(): Promise<void>;
}

export interface CaptureStoreContext {
  /** `<home_dir>`. */
  readonly home: string;
  /** The rows of a shared store; null: captures are in a file of the home. */
  readonly rows: RequestRows | null;
  /** The table in service. */
  readonly table: () => RouteTable;
  /** Secrets that must not appear in a captured request; the set only grows. */
  readonly secrets: () => ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Called once, when the first table or subscription with capture is loaded, or captured requests are read. */
export type OpenCaptureStore = (context: CaptureStoreContext) => CaptureStore;

/** The capture of a service: opened with the first routes that capture requests, or when captured requests are read. */
export class RequestCapture {
  private readonly keeper: Lazy<CaptureStore>;
  private readonly log: Logger;

  constructor(keeper: Lazy<CaptureStore>, log: Logger) {
    this.keeper = keeper;
    this.log = log;
  }

  readonly keep: CaptureRequest = (...request) => this.keeper.opened?.keep(...request) ?? null;
  /** Does nothing unless a route captures requests. */
  readonly keepMiss: CaptureMiss = (...request) => this.keeper.opened?.keepMiss(...request);

  get counts(): CaptureCounts {
    return this.keeper.opened?.counts ?? NO_CAPTURES;
  }

  /** Rejects if requests cannot be captured here. */
  use(): Promise<CaptureStore> {
    return this.keeper.use();
  }

  /** Opens the store before the first request to one of these routes is answered, if any of them captures requests. */
  async prepare(routes: Iterable<RoutePlan>): Promise<void> {
    if (this.keeper.opened !== null || [...routes].every(({ capture }) => capture === 'none')) return;
    await this.use().catch((error: unknown) =>
      this.log.error({ reason: messageOf(error) }, 'could not open the capture of requests; events are not affected'),
    );
  }

  close(): Promise<void> {
    return this.keeper.end((keeper) => keeper.close());
  }
}

const NO_CAPTURES: CaptureCounts = { kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } };
