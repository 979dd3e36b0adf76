/** The seam to delivery targets: one text to one address, answered with an outcome word. */

export interface DeliveryRequest {
  /** Dispatch id and index of the delivery in it: the root of every idempotency key. */
  readonly key: string;
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
  readonly target: string;
  /** The name that people see, where it is not `target`. */
  readonly label?: string;
  /** Rendered `deliver_extra`. */
  readonly extra: Readonly<Record<string, string>>;
  /** Keys of `extra` that still hold a placeholder: an address among them is a permanent failure. */
  readonly unresolved: readonly string[];
  readonly text: string;
  /** Pieces of the text that earlier attempts have already sent. */
  readonly sent: number;
  /** Unix time in ms of the delivery's first attempt, null when this is it: targets recognise a repeat only for a while. */
  readonly first_attempt_at: number | null;
  /** Also append the delivered text to the chat's session (§4.7), once it is fully delivered. */
  readonly mirror_to_session: boolean;
  readonly signal: AbortSignal;
}

/**
 * What became of one attempt (the outcome words of docs/targets.md).
 * `permanent`: never retry. `retry`: nothing was sent, safe to repeat. `ambiguous`: may have been sent;
 * repeat only when `idempotent` (the target drops the repeat) or the operator opted in.
 * `reason` is for the log and the store: no secret, no upstream body text beyond its error code.
 */
export type DeliveryOutcome =
  | {
      readonly kind: 'ok';
      readonly message_id: string | null;
      readonly sent: number;
      /** The delivery itself was a line of the log: another one would say nothing new. */
      readonly logged?: true;
    }
  | {
      readonly kind: 'permanent' | 'retry' | 'ambiguous';
      readonly reason: string;
      /** The wait the target asked for, in ms; null: the usual backoff. */
      readonly retry_after_ms: number | null;
      readonly idempotent: boolean;
      /** False: the target was not contacted, because its pace forbade it. Does not use up an attempt. */
      readonly attempted: boolean;
      readonly sent: number;
    };

export interface Deliverer {
  /** Makes one attempt. Never throws: every failure is an outcome. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
  /** Why a delivery would fail whatever its text, such as an address that is not resolved; null: it may succeed. */
  refusal(profile: string, delivery: Pick<DeliveryRequest, 'target' | 'extra' | 'unresolved'>): string | null;
  /** False for a target that the table in service does not have (any more): its deliveries are tried again for a while. */
  isEnabled(profile: string, target: string): boolean;
  /** True for a target whose deliveries stay within this process: none of them waits, is paced or can be refused. */
  isImmediate(profile: string, target: string): boolean;
}
