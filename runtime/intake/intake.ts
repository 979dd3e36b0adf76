/** The state of one request in the stages, and the services that stages use. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Claim, Dispatcher } from '../dispatch/dispatcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger, TraceFields, TraceParent } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import type { SignedRequest } from '../verify/request.ts';
import type { Overload } from './overload.ts';
import type { ParsedBody } from './parse-body.ts';
import { parseBody } from './parse-body.ts';
import type { ReasonCode } from './reason-codes.ts';
import type { Reply } from './reply.ts';
import type { RunScript } from './script-runner.ts';
import type { Connections } from './server.ts';
import type { IntakeRequest, UnverifiedBodies } from './unverified-bodies.ts';

/**
 * A stage ends the request with a reply, or returns null to continue. It stores what it finds in the intake, and is
 * asynchronous only if it must wait.
 */
export type Stage = (intake: Intake, services: Services) => Reply | null | Promise<Reply | null>;

/** The services that stages use. */
export interface Services {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ids: Ids;
  readonly dispatcher: Dispatcher;
  readonly runScript: RunScript;
  /** The id of this installation. Rejects with StoreUnavailable. */
  readonly installation: () => Promise<string>;
  /** The account of a target for which none is set, where its service has told it. Missing: none has. */
  readonly ownLogin?: OwnLogin;
  readonly shutdown: Shutdown;
  readonly overload: Pick<Overload, 'refuses' | 'verify'>;
  readonly bodies: Pick<UnverifiedBodies, 'read' | 'readArrived' | 'release'>;
  readonly connections: Pick<Connections, 'verify'>;
  readonly warnDeprecated: (route: LinkedRoute, scheme: string) => void;
  /** Null: nothing is traced. */
  readonly tracing: RequestTracing | null;
  /** Missing for a request whose sender is not there, such as one that is explained. */
  readonly statuses?: () => Statuses | null;
}

/** What senders are told of their events after the 202: a module implements it. */
export interface Statuses {
  /** Has the event accepted, and answers its sender. */
  accept(intake: Intake, dispatch: () => Promise<Reply>): Promise<Reply>;
  /** The answer at a path that is no route; null: there is nothing. */
  find(
    request: IntakeRequest,
    path: string,
    findRoute: (path: string) => LinkedRoute | undefined,
  ): Promise<Reply | null>;
  /** The dispatch has ended. */
  finished(id: string): void;
  /** The server stops: nobody waits any more. */
  release(): void;
}

export type OpenStatuses = (context: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}) => Statuses;

/** Spans of requests whose signature is right: strangers begin none. */
export interface RequestTracing {
  /** Begins the span, which continues the trace that the sender names. */
  received(intake: Intake): TraceFields;
  /** Ends it; a request that was answered before it was rendered gets its span here. */
  answered(intake: Intake, reply: Reply): void;
}

/** Whether the server is stopping. */
export interface Shutdown {
  /** Seconds after which senders should retry, once the server is stopping; otherwise null. */
  retryAfterSeconds: number | null;
}

const NO_BODY = Buffer.alloc(0);
const ALL_RESOLVED: readonly string[] = [];

/** All fields are set from the start, so that V8 gives all intakes the same shape. */
export class Intake implements SignedRequest {
  readonly request: IntakeRequest;
  readonly response: ServerResponse;
  readonly route: LinkedRoute;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Unix ms. */
  readonly receivedAt: number;
  /** When the event came, for its age: before `receivedAt` for one that is replayed. Unix ms. */
  cameAt: number;
  /** Monotonic ms. */
  readonly startedAt: number;
  body: Buffer = NO_BODY;
  authenticated = false;
  /** The scheme that verified or refused the request; empty before. */
  scheme = '';
  /** Index of the secret that matched; above 0 during a rotation. */
  secret = 0;
  /** The stage that answered. */
  stage: StageName | null = null;
  /** Reason code of the outcome (see `reasonOf`), for the operator; never sent to the sender. */
  reason: ReasonCode | null = null;
  /** Details of the reason, as text. */
  detail: string | null = null;
  event = '';
  deliveryId = '';
  claim: Claim | null = null;
  /** The payload from which prompt and addresses are rendered: the sender's, or the script's result. */
  data: unknown = undefined;
  dispatch: Dispatch | null = null;
  /** Placeholders of the prompt that did not resolve, as written. */
  unresolved: readonly string[] = ALL_RESOLVED;
  coalesceKey: string | null = null;
  /** Set once its span has begun. */
  trace: TraceParent | null = null;
  /** Whether the event holds the marker of another installation. */
  isExchange = false;
  private parsed: ParsedBody | null = null;

  constructor(request: IntakeRequest, response: ServerResponse, route: LinkedRoute, clock: Clock) {
    this.request = request;
    this.response = response;
    this.route = route;
    this.method = request.method ?? '';
    this.url = request.url ?? '';
    this.headers = request.headers;
    this.receivedAt = clock.now();
    this.cameAt = this.receivedAt;
    this.startedAt = clock.monotonic();
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  /** The body, parsed on the first call. */
  parse(): ParsedBody {
    this.parsed ??= parseBody(this.headers, this.body, this.route.body);
    return this.parsed;
  }

  /** Takes a payload that is no body of a request. @param body its JSON */
  give(body: Buffer, payload: unknown): void {
    this.body = body;
    this.data = payload;
    this.parsed = { payload, form: null, fault: null };
  }

  payload(): unknown {
    return this.parse().payload;
  }

  /**
   * Drops the payload once the event is rendered, and the body unless the request is kept, so that garbage collections do not
   * copy them while the event waits for the store.
   */
  release(): void {
    if (this.route.plan.capture === 'none') this.body = NO_BODY;
    this.data = undefined;
    this.parsed = null;
  }

  form(): URLSearchParams | null {
    return this.parse().form;
  }
}

/** The names of the stages, in the order of `pipeline.ts`, as used in reasons, `explain` and kept requests. */
export const STAGE_NAMES = [
  'method',
  'open',
  'origin',
  'rate_check',
  'probe',
  'size',
  'credential',
  'body',
  'handshake',
  'signature',
  'challenge',
  'rate_consume',
  'parse',
  'identify',
  'event',
  'filter',
  'age',
  'loop',
  'duplicate',
  'script',
  'render',
  'dispatch',
] as const;

export type StageName = (typeof STAGE_NAMES)[number];
