/** The name of a claim. JSON: neither a NUL nor a separator in what a stranger can choose can forge another. */
import type { ClaimKey } from './mutations.ts';

export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);
