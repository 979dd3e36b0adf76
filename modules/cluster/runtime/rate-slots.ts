/** Slots of shared rate windows: the request to the store, and its grant. */

export interface SlotRequest {
  /** Name of the window: the lane of its route. */
  readonly window: string;
  /** Most slots of the window, over all gateways. */
  readonly limit: number;
  /** Slots for requests that are waiting. */
  readonly needed: number;
  /** Slots to take ahead; at most a 64th of the rest is granted, so that no gateway hoards the last ones. */
  readonly ahead: number;
}

export interface SlotGrant {
  /** Fewer than `needed` when the window is full. */
  readonly granted: number;
  /** Slots that all gateways have taken, including these. */
  readonly taken: number;
  /** Time until the window ends, in ms, at the time of the grant. */
  readonly left_ms: number;
}

/** Rejects with StoreUnavailable. */
export type TakeSlots = (request: SlotRequest) => Promise<SlotGrant>;
