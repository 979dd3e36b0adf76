/**
 * The interfaces of delivery: a deliverer sends one text to one address and returns an outcome; a driver does so for
 * one kind of target, bound to a profile.
 */
import type {
  DispatchPins,
  OutputContent,
  ShownPlace,
  TargetBinding,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger, TraceContext } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { HttpConnections, TokenCache } from './http-pool.ts';
import type { Pace } from './pace.ts';
import type { Redact } from './redact.ts';

/** A request to deliver one text to one address. */
export interface DeliveryRequest extends TraceContext {
  /** Dispatch id and index of the delivery, from which idempotency keys are derived. */
  readonly key: string;
  readonly profile: string;
  /** The route, else the job, else the kind of the gateway's own message: `alert`, `run_failed`, `approval`. */
  readonly route: string;
  readonly delivery_id: string;
  readonly target: string;
  /** Display name, when it differs from `target`. */
  readonly label?: string;
  /** Rendered `deliver_extra`. */
  readonly extra: Readonly<Record<string, string>>;
  /** Keys of `extra` that still hold a placeholder: an address among them is a permanent failure. */
  readonly unresolved: readonly string[];
  /** Destination that was shown for approval: the message is sent nowhere else. */
  readonly place?: ShownPlace;
  readonly text: string;
  /** Marker for targets that mark their posts; empty: no mark. */
  readonly marker?: string;
  /** Id of the series that `mode: upsert` keeps in one post: by session and output. Absent: no series. */
  readonly series?: string;
  /** Further content fields from the agent; absent: none. `text` is one of them, where the target has it. */
  readonly content?: OutputContent;
  /** The approval that the buttons of the message answer; absent: it has no buttons. */
  readonly approval?: string;
  /** State that the run has read. */
  readonly pins?: DispatchPins;
  /** Pieces of the text that earlier attempts have already sent. */
  readonly sent: number;
  /** Unix ms of the delivery's first attempt, null for the first: targets recognise a repeat only for a limited time. */
  readonly first_attempt_at: number | null;
  /** Appends the delivered text to the chat's session (§4.7), once it is fully delivered. */
  readonly mirror_to_session: boolean;
  readonly signal: AbortSignal;
  /** Called at the end of each HTTP request of the attempt. */
  readonly called?: (call: HttpCall) => void;
}

/** Public facts of an HTTP request to a target. No path, which may contain a secret, and no text. */
export interface HttpCall {
  readonly method: string;
  /** `https://<host>[:<port>]` */
  readonly origin: string;
  /** The status of the response, or the system's or undici's code of the error. */
  readonly end: number | string;
}

export type Addressed = Pick<DeliveryRequest, 'extra' | 'unresolved'>;

/**
 * The outcome of one attempt (docs/targets.md).
 * `permanent`: never retry. `retry`: nothing was sent, safe to repeat. `ambiguous`: it may have been sent;
 * repeat only when `idempotent` (the target drops the repeat) or when the operator opted in. `superseded`: nothing was sent,
 * because the state that the run has read has changed.
 * `reason` is for the log and the store: no secret, no upstream body text beyond its error code.
 */
export type DeliveryOutcome =
  | {
      readonly kind: 'ok';
      readonly message_id: string | null;
      readonly sent: number;
      /** The delivery itself was a log line, so no other is needed. */
      readonly logged?: true;
    }
  | {
      readonly kind: 'permanent' | 'retry' | 'ambiguous' | 'superseded';
      readonly reason: string;
      /** Wait requested by the target, in ms; null: the usual backoff. */
      readonly retry_after_ms: number | null;
      readonly idempotent: boolean;
      /** False: the target was not contacted, because of its pace; this does not count as an attempt. */
      readonly attempted: boolean;
      readonly sent: number;
    };

export interface Deliverer {
  /** Makes one attempt. Never throws: every failure is an outcome. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /** Why a delivery would fail whatever its text is, such as an unresolved address; null: it may succeed. */
  refusal(profile: string, delivery: Pick<DeliveryRequest, 'target' | 'extra' | 'unresolved'>): string | null;
  /** False for a target that is not in the current table; its deliveries are retried for a while. */
  isEnabled(profile: string, target: string): boolean;
  /** True for a target whose deliveries stay within this process: they never wait and cannot be refused. */
  isImmediate(profile: string, target: string): boolean;
}

type Failed = Exclude<DeliveryOutcome, { readonly kind: 'ok' }>;

/** Creates a failure. By default nothing was sent, no wait was requested, and repeats are not deduplicated. */
export function failed(
  kind: Failed['kind'],
  reason: string,
  more: Partial<Omit<Failed, 'kind' | 'reason'>> = {},
): Failed {
  return { kind, reason, retry_after_ms: null, idempotent: false, attempted: true, sent: 0, ...more };
}

/** A target with one profile's credentials; its driver has access to no others. */
export interface BoundTarget {
  readonly profile: string;
  readonly plan: TargetPlan;
  readonly binding: TargetBinding;
  readonly homeChannel: string | null;
  readonly apiBase: string | null;
  /** Settings by canonical name, with credentials resolved and defaults filled in. Empty ones are left out. */
  readonly settings: ReadonlyMap<string, string>;
  readonly redact: Redact;
}

export interface DeliveryContext {
  /** The modules that may have drivers. */
  readonly modules: readonly { readonly drivers?: DriverLoaders }[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly http: HttpConnections;
  readonly runProcess: RunProcess;
  readonly pace: Pace;
  readonly tokens: TokenCache;
  /** The process environment; drivers pick the variables that they pass on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute home of a profile. */
  readonly homeOf: (profile: string) => string;
}

/** An HTTP request as shown to users: secrets are `***`. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** One message as a dry run shows it. */
export type ShownDelivery =
  | ({ readonly kind: 'http' } & ShownRequest)
  | { readonly kind: 'process'; readonly argv: readonly string[]; readonly stdin: string }
  | { readonly kind: 'mail'; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Driver {
  /** Deliveries stay within the process: they never wait and cannot be rejected. */
  readonly immediate?: true;
  /** Makes one attempt. May reject with DeliveryRefusal for a delivery that cannot be made. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /** Returns the messages that would be sent, without secrets. Rejects with DeliveryRefusal like `deliver`. */
  show(request: DeliveryRequest): Promise<readonly ShownDelivery[]>;
  /** Why a delivery to this address would fail whatever its text is; null: it may succeed. Default: null. */
  refusal?(request: Addressed): string | null;
  /** The chat that a delivery goes to, for the session mirror; null: no chat. */
  chatId(request: Addressed): string | null;
  /** The destination, for the person who approves a message. Default: no destination besides the address. */
  place?(): ShownPlace;
  /** The account that posts: events sent by it are the gateway's own. Null or absent: unknown. */
  ownLogin?(): string | null;
  /** Checks whether deliveries would work, without making one. Never rejects. */
  probe(options: ProbeOptions): Promise<readonly Probe[]>;
}

/** Returns the driver of a bound target, or an error that says what is wrong with the binding. */
export type CreateDriver = (target: BoundTarget, context: DeliveryContext) => Driver | string;

/**
 * `posts`: `http` for variants that search for earlier posts, know the account that posts, or have a token for each address.
 */
export type DriverKind = TargetPlan['driver'] | 'posts';

/** Drivers that a module adds; each is loaded with the first target that needs it. */
export type DriverLoaders = Partial<Readonly<Record<DriverKind, () => Promise<CreateDriver>>>>;

export type Drivers = Partial<Readonly<Record<DriverKind, CreateDriver>>>;

/** A result of checking a binding without a delivery, for `hookwright doctor`. */
export interface Probe {
  /** Name of the check, in a few words. */
  readonly check: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** The result, without secrets. */
  readonly detail: string;
  /** What to do about a failure; null unless it failed. */
  readonly fix: string | null;
  /** The server's clock, in Unix ms; null when unknown. */
  readonly server_time: number | null;
}

export interface ProbeOptions {
  /** Contacts the service; otherwise checks only this machine. */
  readonly live: boolean;
  readonly signal: AbortSignal;
}

export function probed(check: string, detail: string, server_time: number | null = null): Probe {
  return { check, status: 'ok', detail, fix: null, server_time };
}

export function probeFailed(check: string, detail: string, fix: string): Probe {
  return { check, status: 'failed', detail, fix, server_time: null };
}

export function probeSkipped(check: string, detail: string): Probe {
  return { check, status: 'skipped', detail, fix: null, server_time: null };
}

export const notLive = (check: string): Probe => probeSkipped(check, 'checked only with --live');
