/** What happened in one run or one delivery attempt. */
export interface Step {
  readonly kind: 'run' | 'delivery';
  /** Index of the delivery in the dispatch; null for a run. */
  readonly index: number | null;
  /** `interrupted`: the process or a drain cut it off. Runs are recorded when they did not succeed. */
  readonly outcome: 'ok' | 'failed' | 'interrupted' | 'permanent' | 'retry' | 'ambiguous';
  readonly started_at: number;
  readonly at: number;
  readonly reason: string | null;
  /** Unix ms of the next attempt; null when there is none. */
  readonly next_at: number | null;
  /** Pieces of the text that have arrived so far. */
  readonly sent: number;
  readonly message_id: string | null;
}
