/** What a target is once it is linked into a profile, and what the code behind it must be able to do. */
import type { Dispatcher } from 'undici';
import type { TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { DeliveryOutcome, DeliveryRequest } from './deliverer.ts';
import type { Pace } from './pace.ts';
import type { Probe, ProbeOptions } from './probe.ts';
import type { Redact } from './redact.ts';
import type { TokenCache } from './token-cache.ts';

/** A target with one profile's credentials: all that its driver can ever reach. */
export interface BoundTarget {
  readonly profile: string;
  readonly plan: TargetPlan;
  readonly binding: TargetBinding;
  readonly homeChannel: string | null;
  readonly apiBase: string | null;
  /** Settings by canonical name: credentials resolved, defaults filled in. Empty ones are not there. */
  readonly settings: ReadonlyMap<string, string>;
  readonly redact: Redact;
}

/** What drivers need from the world. */
export interface DeliveryContext {
  readonly clock: Clock;
  readonly log: Logger;
  /** Keep-alive pool of undici; never follows redirects. */
  readonly dispatcher: Dispatcher;
  readonly runProcess: RunProcess;
  readonly pace: Pace;
  readonly tokens: TokenCache;
  /** Variables of this process; drivers pick what they pass on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute home of a profile. */
  readonly homeOf: (profile: string) => string;
}

/** A request over HTTP as it is shown to people: secrets are `***`. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** A request as a dry run shows it. */
export type ShownDelivery =
  | ({ readonly kind: 'http' } & ShownRequest)
  | { readonly kind: 'process'; readonly argv: readonly string[]; readonly stdin: string }
  | { readonly kind: 'mail'; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Driver {
  /** Nothing leaves the process: no delivery waits, is paced or can be refused. */
  readonly immediate?: true;
  /** One attempt. May throw DeliveryRefusal for a delivery that cannot be made as it is. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /**
   * What would be sent, one entry per message, without secrets.
   * @throws DeliveryRefusal as `deliver` would.
   */
  show(request: DeliveryRequest): Promise<readonly ShownDelivery[]>;
  /** Why a delivery to this address would fail whatever its text; null: it may succeed. Left out: it always may. */
  refusal?(request: Pick<DeliveryRequest, 'extra' | 'unresolved'>): string | null;
  /** The address a delivery resolves to, for the session mirror; null when it has none. */
  chatId(request: Pick<DeliveryRequest, 'extra' | 'unresolved'>): string | null;
  /** Looks whether deliveries would work, without making one. Never throws. */
  probe(options: ProbeOptions): Promise<readonly Probe[]>;
}

/** The driver of a bound target, or what is wrong with the binding. */
export type CreateDriver = (target: BoundTarget, context: DeliveryContext) => Driver | string;
