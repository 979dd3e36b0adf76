/** What stored rows, delivery ids and the processes that work on them are named by. */

/** A stored dispatch's number: grows with the order of storing, never used twice. */
export type Ref = number;

/** Names the process that works on a row: unique for each start of a gateway. */
export type Holder = string;

export interface ClaimKey {
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
}

/** A delivery id to remember until `expires_at` (unix ms). */
export interface StoredClaim extends ClaimKey {
  readonly expires_at: number;
}
