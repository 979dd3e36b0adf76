/** Keys made of text that a stranger can choose: JSON, so that neither a NUL nor a separator in it can forge another. */
import type { ClaimKey } from '../mutations.ts';

export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);

export const groupKey = (profile: string, route: string, key: string): string => JSON.stringify([profile, route, key]);

export function parseGroupKey(text: string): { profile: string; route: string; key: string } {
  const [profile, route, key] = JSON.parse(text) as [string, string, string];
  return { profile, route, key };
}
