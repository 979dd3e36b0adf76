/** Number of requests kept since the start, and of those that were dropped although their route keeps requests. */
export interface CaptureCounts {
  kept: number;
  /** `rate`: over the route's rate. `queue`: the writer thread is behind. `failed`: they cannot be stored. */
  readonly dropped: { rate: number; queue: number; failed: number };
}

export const createCaptureCounts = (): CaptureCounts => ({ kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } });
