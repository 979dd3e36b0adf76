/**
 * Types of linked routes, for intake: all data of a route that is known before a request arrives, and the context in which it
 * is linked. Immutable.
 */
import type { DispatchOutput, ResponsePlan, RoutePlan, SchemePlan } from '../../schemas/generated/types.ts';
import type { SlotWindow } from '../store/shared.ts';
import type { Authenticator } from '../verify/authenticator.ts';
import type { AnswerHandshake } from '../verify/handshake.ts';
import type { SignatureEvidence } from '../verify/likely-sources.ts';
import type { SignedRequest } from '../verify/request.ts';
import type { Destination } from './held-place.ts';
import type { ListFile } from './in-file-set.ts';
import type { LinkedEvents, LinkedMaxAge } from './link-events.ts';
import type { LinkedFilter } from './link-filter.ts';
import type { FindIdentity } from './link-identity.ts';
import type { RenderKey } from './link-key.ts';
import type { LinkedLoop } from './link-loop.ts';
import type { RenderPrompt, RenderTemplate } from './link-template.ts';
import type { Refusals } from './rate-limit.ts';

export interface LinkedRoute {
  readonly plan: RoutePlan;
  /** Stays when the table is replaced. */
  readonly window: SlotWindow;
  readonly refusals: Refusals;
  readonly limits: RouteLimits;
  readonly authenticator: Authenticator;
  /** INSECURE_NO_AUTH: requests are not verified. */
  readonly insecure: boolean;
  /** Answers the source's handshake, if it has one. */
  readonly handshake: AnswerHandshake | null;
  /** True if a request without a signature may be the handshake that carries the secret; null: the source has none. */
  readonly awaitsSecret: ((request: SignedRequest) => boolean) | null;
  /** Accepted schemes that are deprecated, with the reasons. */
  readonly deprecated: ReadonlyMap<string, string>;
  /** Finds out why a signature was rejected; contains the secrets. */
  readonly evidence: () => SignatureEvidence;
  /** An empty body is the payload `{}`. */
  readonly allowsEmpty: boolean;
  /** The format of bodies; null: the content type decides. */
  readonly body: NonNullable<SchemePlan['body']> | null;
  /** Locations of the event type and the delivery id (§6.1, §6.2). */
  readonly identityOf: FindIdentity;
  /** The lists of a batch; null: a request is one event. */
  readonly batch: { readonly lists: readonly (readonly string[])[]; readonly most: number } | null;
  /** The responses of the route or its source, by outcome; null: none. */
  readonly respond: LinkedRespond | null;
  readonly events: LinkedEvents;
  readonly filter: LinkedFilter | null;
  /** Null: events of any age are accepted. */
  readonly maxAge: LinkedMaxAge | null;
  /** The lists that `filter` reads; refresh them before it runs. */
  readonly lists: readonly ListFile[];
  readonly script: LinkedScript | null;
  readonly prompt: RenderPrompt;
  /** True if the prompt has markers, which need an id. */
  readonly isMarked: boolean;
  readonly deliveries: readonly LinkedDelivery[];
  readonly outputs: readonly LinkedOutput[];
  readonly coalesce: LinkedCoalesce | null;
  readonly onFailure: readonly LinkedDelivery[];
  readonly loop: LinkedLoop;
  /** The state that its runs read. */
  readonly pins: readonly (readonly [name: string, render: RenderTemplate])[];
  /** Where its progress is shown: the first place whose address has all its values. */
  readonly progress: readonly LinkedDelivery[];
  /** Renders `session_key`; null: runs are not serialized. */
  readonly sessionKey: LinkedCoalesce['key'] | null;
}

interface RouteLimits {
  readonly maxBodyBytes: number;
  readonly directTimeoutMs: number;
  readonly idempotencyTtlMs: number;
  /** How long an event waits behind a slow commit. */
  readonly acceptTimeoutMs: number;
}

export type LinkedRespond = Readonly<Partial<Record<string, LinkedResponse>>>;

/** `status`, `body`: null: as without it. */
export interface LinkedResponse extends Pick<ResponsePlan, 'status' | 'content_type' | 'headers'> {
  readonly body: RenderTemplate | null;
}

export interface LinkedScript {
  /** The program that runs the script. */
  readonly interpreter: string;
  /** Absolute. */
  readonly path: string;
  /** The folder that must contain the script; absolute. */
  readonly folder: string;
  readonly timeoutMs: number;
}

export interface LinkedDelivery {
  readonly target: string;
  /** The name in the configuration, if it is not `target`. */
  readonly label?: string;
  readonly extra: readonly (readonly [key: string, render: RenderTemplate])[];
  /** Maximum wait for approval, in ms; absent: it needs no approval. */
  readonly approve_ms?: number;
  /** Its current destination; used only if a person approves it. */
  readonly place: () => Destination | null;
}

export type LinkedOutput = Omit<DispatchOutput, 'delivery'> & { readonly delivery: LinkedDelivery };

export interface LinkedCoalesce {
  readonly key: RenderKey;
  readonly windowMs: number;
  readonly maxWaitMs: number;
  /** Renders an event in the list of its burst; null: only the latest event is used. */
  readonly all: { readonly each: RenderPrompt; readonly maxEvents: number } | null;
}
