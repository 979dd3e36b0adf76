/** The seam to delivery targets: one text to one address, answered with an outcome word. */

export interface DeliveryRequest {
  /** Dispatch id and index of the delivery in it: the root of every idempotency key. */
  readonly key: string;
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
  readonly target: string;
  /** Rendered `deliver_extra`. */
  readonly extra: Readonly<Record<string, string>>;
  /** Keys of `extra` that still hold a placeholder: an address among them is a permanent failure. */
  readonly unresolved: readonly string[];
  readonly text: string;
  /** Pieces of the text that earlier attempts have already sent. */
  readonly sent: number;
  readonly signal: AbortSignal;
}

/**
 * What became of one attempt (the outcome words of docs/targets.md).
 * `permanent`: never retry. `retry`: nothing was sent, safe to repeat. `ambiguous`: may have been sent;
 * repeat only when `idempotent` (the target drops the repeat) or the operator opted in.
 * `reason` is for the log and the store: no secret, no upstream body text beyond its error code.
 */
export type DeliveryOutcome =
  | { readonly kind: 'ok'; readonly message_id: string | null; readonly sent: number }
  | {
      readonly kind: 'permanent' | 'retry' | 'ambiguous';
      readonly reason: string;
      readonly retry_after_ms: number | null;
      readonly idempotent: boolean;
      readonly sent: number;
    };

export interface Deliverer {
  /** Makes one attempt. Never throws: every failure is an outcome. */
  deliver(request: DeliveryRequest): Promise<DeliveryOutcome>;
}
