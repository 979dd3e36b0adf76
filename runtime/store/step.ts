/** The record of one run or delivery attempt. Times are Unix ms. */
export interface Step {
  readonly kind: 'run' | 'delivery';
  /** Index of the delivery in the dispatch; null for a run. */
  readonly index: number | null;
  /** `interrupted`: ended by a drain or with its process. Only unsuccessful runs are recorded. */
  readonly outcome: 'ok' | 'failed' | 'interrupted' | 'permanent' | 'retry' | 'ambiguous';
  readonly started_at: number;
  readonly at: number;
  readonly reason: string | null;
  /** Unix ms of the next attempt; null when there is none. */
  readonly next_at: number | null;
  /** Pieces of the text delivered so far. */
  readonly sent: number;
  readonly message_id: string | null;
}
