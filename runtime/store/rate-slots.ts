/** Slots of the rate windows that gateways share: what is asked of the store, and what it grants. */

export interface SlotRequest {
  /** Name of the window: the lane of its route. */
  readonly window: string;
  /** Slots of the whole window, over all gateways. */
  readonly limit: number;
  /** For requests that are waiting. */
  readonly needed: number;
  /** For those of the next moment: at most a 64th of what is then left, so that no gateway keeps the last ones. */
  readonly ahead: number;
}

export interface SlotGrant {
  /** Fewer than `needed`: the window is full. */
  readonly granted: number;
  /** Slots of the window that all gateways have taken, with these. */
  readonly taken: number;
  /** Until the window ends, in ms, from when the store granted them. */
  readonly left_ms: number;
}

/** @throws (as a rejection) StoreUnavailable */
export type TakeSlots = (request: SlotRequest) => Promise<SlotGrant>;
