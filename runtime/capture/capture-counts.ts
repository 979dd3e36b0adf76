/** How many requests were kept since the start, and how many were not although their route wants them kept. */
export interface CaptureCounts {
  kept: number;
  /** `rate`: over what a route may have. `queue`: the thread that writes is behind. `failed`: the disk does not take them. */
  readonly dropped: { rate: number; queue: number; failed: number };
}

export const createCaptureCounts = (): CaptureCounts => ({ kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } });
