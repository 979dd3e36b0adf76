/** What linking makes of a table: everything a request needs, already decided, for intake. Immutable once built. */
import type { RoutePlan, SchemePlan } from '../../schemas/generated/types.ts';
import type { Authenticator } from '../verify/authenticator.ts';
import type { AnswerHandshake } from '../verify/handshake.ts';
import type { SignedRequest } from '../verify/request.ts';
import type { SignatureEvidence } from '../verify/signature-evidence.ts';
import type { ListFile } from './in-file-set.ts';
import type { LinkedEvents } from './link-events.ts';
import type { LinkedFilter } from './link-filter.ts';
import type { FindIdentity } from './link-identity.ts';
import type { RenderKey, RenderPrompt, RenderTemplate } from './link-template.ts';
import type { RateWindow } from './rate-limit.ts';

export interface LinkedRoute {
  readonly plan: RoutePlan;
  /** Kept from table to table. */
  readonly window: RateWindow;
  readonly limits: RouteLimits;
  readonly authenticator: Authenticator;
  /** INSECURE_NO_AUTH: nothing is verified. */
  readonly insecure: boolean;
  /** Answers the source's handshake, when it has one. */
  readonly handshake: AnswerHandshake | null;
  /** Whether a request without a signature may be the handshake that brings the secret; null: there is none. */
  readonly awaitsSecret: ((request: SignedRequest) => boolean) | null;
  /** Accepted schemes that should no longer be used, and why. */
  readonly deprecated: ReadonlyMap<string, string>;
  /** What a refused signature is looked into with; holds the secrets. */
  readonly evidence: () => SignatureEvidence;
  /** How a body is read; null: as its content type says. */
  readonly body: NonNullable<SchemePlan['body']> | null;
  /** Where its event type and delivery id are (§6.1, §6.2). */
  readonly identityOf: FindIdentity;
  readonly events: LinkedEvents;
  readonly filter: LinkedFilter | null;
  /** Those that `filter` looks into: to be refreshed before it is asked. */
  readonly lists: readonly ListFile[];
  readonly script: LinkedScript | null;
  readonly prompt: RenderPrompt;
  /** The prompt has markers, which need an id. */
  readonly isMarked: boolean;
  readonly deliveries: readonly LinkedDelivery[];
  readonly coalesce: LinkedCoalesce | null;
}

export interface RouteLimits {
  readonly maxBodyBytes: number;
  readonly directTimeoutMs: number;
  readonly idempotencyTtlMs: number;
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
  /** The name that people see, where it is not `target`. */
  readonly label?: string;
  readonly extra: readonly (readonly [key: string, render: RenderTemplate])[];
}

export interface LinkedCoalesce {
  readonly key: RenderKey;
  readonly windowMs: number;
  readonly maxWaitMs: number;
}
