/** The state of one request in the stages, and the services that stages use. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Approvals } from '../dispatch/context.ts';
import type { Claim, Dispatcher } from '../dispatch/dispatcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger, TraceFields, TraceParent } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import { NO_AUTHOR } from '../table/link-loop.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import type { Item } from '../verify/items.ts';
import type { SignedRequest } from '../verify/request.ts';
import { plainAddress } from './client.ts';
import type { DecodingFault } from './decode-body.ts';
import { decodeBody } from './decode-body.ts';
import type { Overload } from './overload.ts';
import type { ParsedBody } from './parse-body.ts';
import { fault, parseBody } from './parse-body.ts';
import type { ReasonCode } from './reason-codes.ts';
import type { Reply } from './reply.ts';
import type { RunScript } from './script-runner.ts';
import type { Connections } from './server.ts';
import type { IntakeRequest, UnverifiedBodies } from './unverified-bodies.ts';

/**
 * A stage ends the request with a reply, or returns null to continue. It stores its results in the intake, and is asynchronous
 * only if it must wait.
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
  /** The account of a target without a setting for it, as its service reported it. Missing: no service reports one. */
  readonly ownLogin?: OwnLogin;
  readonly shutdown: Shutdown;
  readonly overload: Pick<Overload, 'refuses' | 'verify'>;
  readonly bodies: Pick<UnverifiedBodies, 'read' | 'readArrived' | 'release'>;
  readonly connections: Pick<Connections, 'verify'>;
  readonly warnDeprecated: (route: LinkedRoute, scheme: string) => void;
  /** Null: tracing is off. */
  readonly tracing: RequestTracing | null;
  /** Missing for a request without a waiting sender, such as one that is explained. */
  readonly statuses?: () => Statuses | null;
  readonly approvals?: () => Pick<Approvals, 'answered'> | null;
}

/** Reports to senders the status of their events after the 202; implemented by a module. */
export interface Statuses {
  /** Runs `dispatch` and answers the sender. */
  accept(intake: Intake, dispatch: () => Promise<Reply>): Promise<Reply>;
  /** The response at a path without a route; null: nothing is there. */
  find(
    request: IntakeRequest,
    path: string,
    findRoute: (path: string) => LinkedRoute | undefined,
  ): Promise<Reply | null>;
  /** Called when a dispatch has ended. */
  finished(id: string): void;
  /** Called when the server stops: ends all waiting requests. */
  release(): void;
}

export type OpenStatuses = (context: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}) => Statuses;

/** Traces requests with a valid signature; requests of strangers start no span. */
export interface RequestTracing {
  /** Starts the span, which continues the trace of the sender. */
  received(intake: Intake): TraceFields;
  /** Ends the span. A request that was answered before it was rendered gets its span here. */
  answered(intake: Intake, reply: Reply): void;
}

/** Whether the server is stopping. */
export interface Shutdown {
  /** Seconds after which senders should retry while the server is stopping; otherwise null. */
  retryAfterSeconds: number | null;
}

/** What an event of a batch belongs to. */
interface PartOfBatch {
  readonly request: Intake;
  readonly index: number;
  /** The digest of the item, where the sender signs each one by itself and names no id. */
  readonly digest: string | null;
}

/** An event of a batch, and the reply that it alone would get. */
export interface BatchEvent {
  readonly intake: Intake;
  readonly reply: Reply;
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
  /** Time at which the event was received, for its age: earlier than `receivedAt` for a replay. Unix ms. */
  cameAt: number;
  /** Monotonic ms. */
  readonly startedAt: number;
  /** As transmitted, until `isPlain`. */
  body: Buffer = NO_BODY;
  /** True once the parse stage has undone the content encoding of the body. */
  isPlain = false;
  authenticated = false;
  /** The scheme that verified or rejected the request; empty before that. */
  scheme = '';
  /** Index of the matching secret; above 0 during a rotation. */
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
  /** Set once its span has started. */
  trace: TraceParent | null = null;
  /** True if the event contains the marker of another installation. */
  isExchange = false;
  author = NO_AUTHOR;
  /** True once it has a slot of the rate window. */
  hasSlot = false;
  /** The answer of a request that a full window refuses, which is read only to be captured. */
  limited: Reply | null = null;
  /** The items of a batch; null: the request is one event. */
  items: readonly Item[] | null = null;
  /** The events of a batch with their replies, once it is answered. */
  events: readonly BatchEvent[] | null = null;
  partOf: PartOfBatch | null = null;
  /** The status URL in the reply to an accepted event; empty: it has none. */
  statusUrl = '';
  private parsed: ParsedBody | null = null;
  private plain: Buffer | DecodingFault | null = null;

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

  /** The client behind a trusted proxy, else the address of the connection. */
  client(): string {
    return this.request.client ?? plainAddress(this.request.socket.remoteAddress ?? '');
  }

  /** The body without its content encoding, decoded on the first call; a fault if that fails. */
  decoded(): Buffer | DecodingFault {
    this.plain ??= decodeBody(this.headers['content-encoding'], this.body, this.route.limits.maxBodyBytes);
    return this.plain;
  }

  /** The body, parsed on the first call. */
  parse(): ParsedBody {
    this.parsed ??= this.parseDecoded(this.decoded());
    return this.parsed;
  }

  private parseDecoded(body: Buffer | DecodingFault): ParsedBody {
    const { body: format, allowsEmpty } = this.route;
    return typeof body === 'string' ? fault(body) : parseBody(this.headers, body, format, allowsEmpty);
  }

  /** Sets a payload that did not arrive as a request body, or that stands for it. @param body its JSON */
  give(body: Buffer, payload: unknown, form: ParsedBody['form'] = null): void {
    this.body = body;
    this.data = payload;
    this.parsed = { payload, form, fault: null };
  }

  payload(): unknown {
    return this.parse().payload;
  }

  /** The state of an event of this batch, once the request is identified. */
  ofItem(item: Item, index: number, digest: string | null): Intake {
    const parsed: ParsedBody = { payload: item, form: null, fault: null };
    const own = { parsed, data: item, items: null, partOf: { request: this, index, digest } };
    return Object.assign(Object.create(Intake.prototype) as Intake, this, own);
  }

  /**
   * Releases the payload once the event is rendered, and the body unless the request is captured, so that garbage collections
   * do not copy them while the event waits for the store.
   */
  release(): void {
    if (this.route.plan.capture === 'none') this.body = NO_BODY;
    // A response of the route may show values of the payload.
    if (this.route.respond === null) this.data = undefined;
    this.parsed = null;
    this.plain = null;
  }

  form(): URLSearchParams | null {
    return this.parse().form;
  }
}

/** The stages of a request, in the order of `pipeline.ts`. */
export const REQUEST_STAGES = [
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
] as const;

/** The stages of an event, in the order of `pipeline.ts`. */
export const EVENT_STAGES = [
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

/** As used in reasons, `explain` and captured requests. */
export const STAGE_NAMES = [...REQUEST_STAGES, ...EVENT_STAGES] as const;

export type StageName = (typeof STAGE_NAMES)[number];
