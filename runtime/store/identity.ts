/** Identifiers of stored rows, delivery ids and the processes that work on them. */

/** The number of a stored dispatch: it grows in the order of storing and is never reused. */
export type Ref = number;

/** Identifies the process that works on a row; unique for each start of a gateway. */
export type Holder = string;

export interface ClaimKey {
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
}

/** The name of a claim, as JSON, so that neither a NUL nor a separator in untrusted text can forge another name. */
export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);

/** A claimed delivery id, kept until `expires_at` (Unix ms). */
export interface StoredClaim extends ClaimKey {
  readonly expires_at: number;
}

/** The lane of a route's runs, or of the deliveries to a target, as JSON, so that no part can forge another lane. */
export const laneKey = (profile: string, name: string | null): string => JSON.stringify([profile, name]);
