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

/** The name of a claim. JSON: neither a NUL nor a separator in what a stranger can choose can forge another. */
export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);

/** A delivery id to remember until `expires_at` (unix ms). */
export interface StoredClaim extends ClaimKey {
  readonly expires_at: number;
}

/** The lane of the runs of a route, or of the deliveries to a target. JSON: no part can forge another. */
export const laneKey = (profile: string, name: string | null): string => JSON.stringify([profile, name]);
