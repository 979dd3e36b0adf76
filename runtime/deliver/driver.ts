/** A target bound to a profile, and the interface of the driver that delivers to it. */
import type { ShownPlace, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { Addressed, DeliveryOutcome, DeliveryRequest } from './deliverer.ts';
import type { HttpConnections } from './http-pool.ts';
import type { Pace } from './pace.ts';
import type { Probe, ProbeOptions } from './probe.ts';
import type { Redact } from './redact/redact.ts';
import type { TokenCache } from './token-cache.ts';

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

/** What a dry run shows for one message. */
export type ShownDelivery =
  | ({ readonly kind: 'http' } & ShownRequest)
  | { readonly kind: 'process'; readonly argv: readonly string[]; readonly stdin: string }
  | { readonly kind: 'mail'; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Driver {
  /** Nothing leaves the process: deliveries never wait and cannot be refused. */
  readonly immediate?: true;
  /** Makes one attempt. May reject with DeliveryRefusal for a delivery that cannot be made. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /**
   * Returns what would be sent, one entry per message, without secrets.
   * Rejects with DeliveryRefusal like `deliver`.
   */
  show(request: DeliveryRequest): Promise<readonly ShownDelivery[]>;
  /** Why a delivery to this address would fail whatever its text; null: it may succeed. Optional: default null. */
  refusal?(request: Addressed): string | null;
  /** The chat that a delivery goes to, for the session mirror; null when it has none. */
  chatId(request: Addressed): string | null;
  /** Where it sends, for a person who approves a message; optional: nowhere else. */
  place?(): ShownPlace;
  /** The account that posts: events that it sends are the gateway's own. Null, or absent: not known, or not yet. */
  ownLogin?(): string | null;
  /** Checks whether deliveries would work, without making one. Never rejects. */
  probe(options: ProbeOptions): Promise<readonly Probe[]>;
}

/** Returns the driver of a bound target, or what is wrong with the binding. */
export type CreateDriver = (target: BoundTarget, context: DeliveryContext) => Driver | string;

/** `posts`: `http`, for variants that find what they have posted, know who posts, or have a token for each address. */
export type DriverKind = TargetPlan['driver'] | 'posts';

/** Drivers that a module adds; each is loaded with the first target that needs it. */
export type DriverLoaders = Partial<Readonly<Record<DriverKind, () => Promise<CreateDriver>>>>;

export type Drivers = Partial<Readonly<Record<DriverKind, CreateDriver>>>;
