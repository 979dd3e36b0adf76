/** The interface to delivery targets: sends one text to one address and returns an outcome. */
import type { OutputContent, ShownPlace } from '../../schemas/generated/types.ts';
import type { TraceContext } from '../platform/tracing.ts';

export interface DeliveryRequest extends TraceContext {
  /** Dispatch id and index of the delivery, from which idempotency keys are derived. */
  readonly key: string;
  readonly profile: string;
  /** The route, else the job, else what the gateway tells: `alert`, `run_failed`, `approval`. */
  readonly route: string;
  readonly delivery_id: string;
  readonly target: string;
  /** Display name, when it differs from `target`. */
  readonly label?: string;
  /** Rendered `deliver_extra`. */
  readonly extra: Readonly<Record<string, string>>;
  /** Keys of `extra` that still hold a placeholder: an address among them is a permanent failure. */
  readonly unresolved: readonly string[];
  /** Where a person has been shown that it goes: it is sent nowhere else. */
  readonly place?: ShownPlace;
  readonly text: string;
  /** For targets that mark what they post; empty: nothing is marked. */
  readonly marker?: string;
  /** Id of the series that `mode: upsert` keeps in one post: the session's, by output; absent: there is none. */
  readonly series?: string;
  /** What the agent has filled besides; absent: nothing. `text` is one of the fields, where the target has it. */
  readonly content?: OutputContent;
  /** Pieces of the text that earlier attempts have already sent. */
  readonly sent: number;
  /** Unix ms of the delivery's first attempt, null for the first: targets recognise a repeat only for a limited time. */
  readonly first_attempt_at: number | null;
  /** Also append the delivered text to the chat's session (§4.7), once it is fully delivered. */
  readonly mirror_to_session: boolean;
  readonly signal: AbortSignal;
  /** Called with the end of each HTTP request that the attempt makes; missing: nobody asks. */
  readonly called?: (call: HttpCall) => void;
}

/** What an HTTP request to a target may say of itself: no path, which may hold a secret, and no text. */
export interface HttpCall {
  readonly method: string;
  /** `https://<host>[:<port>]` */
  readonly origin: string;
  /** The status of the response, or the system's or undici's code of the error. */
  readonly end: number | string;
}

/** What the address of a delivery is read from. */
export type Addressed = Pick<DeliveryRequest, 'extra' | 'unresolved'>;

/**
 * The outcome of one attempt (docs/targets.md).
 * `permanent`: never retry. `retry`: nothing was sent, safe to repeat. `ambiguous`: it may have been sent;
 * repeat only when `idempotent` (the target drops the repeat) or when the operator opted in.
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
      readonly kind: 'permanent' | 'retry' | 'ambiguous';
      readonly reason: string;
      /** The wait that the target asked for, in ms; null: the usual backoff. */
      readonly retry_after_ms: number | null;
      readonly idempotent: boolean;
      /** False: the target was not contacted, because of its pace; this does not count as an attempt. */
      readonly attempted: boolean;
      readonly sent: number;
    };

export interface Deliverer {
  /** Makes one attempt. Never throws: every failure is an outcome. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /** Why a delivery would fail whatever its text, such as an unresolved address; null: it may succeed. */
  refusal(profile: string, delivery: Pick<DeliveryRequest, 'target' | 'extra' | 'unresolved'>): string | null;
  /** False for a target that the table in service does not have; its deliveries are retried for a while. */
  isEnabled(profile: string, target: string): boolean;
  /** True for a target whose deliveries stay within this process: they never wait and cannot be refused. */
  isImmediate(profile: string, target: string): boolean;
}

/** Creates the outcomes that drivers return. */
type Failed = Exclude<DeliveryOutcome, { readonly kind: 'ok' }>;

/** A failure, by default with nothing sent, no wait asked for and no protection against repeats. */
export function failed(
  kind: Failed['kind'],
  reason: string,
  more: Partial<Omit<Failed, 'kind' | 'reason'>> = {},
): Failed {
  return { kind, reason, retry_after_ms: null, idempotent: false, attempted: true, sent: 0, ...more };
}
