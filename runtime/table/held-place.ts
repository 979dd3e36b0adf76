/** Decides whether a message still goes to the address that was shown for its approval. */
import type { DispatchDelivery, ShownPlace } from '../../schemas/generated/types.ts';

export interface Destination {
  /** The approved destination. Null: it is not checked, because nothing is sent over HTTP. */
  readonly place: ShownPlace | null;
  /** The chat of a delivery without one. */
  readonly home: string | null;
}

/** Returns null if the target is not enabled. */
export type FindDestination = (profile: string, target: string) => Destination | null;

/**
 * True if a message that was shown would now go elsewhere, or differ. A disabled target counts as unchanged, because it may be
 * enabled again.
 */
export function addressChanged(find: FindDestination, { profile, target, place }: ShownMessage): boolean {
  if (place === undefined) return false;
  const destination = find(profile, target);
  if (destination === null) return false;
  const { digest, headers } = destination.place ?? {};
  return digest !== place.digest || (place.headers !== undefined && place.headers !== headers);
}

type ShownMessage = Pick<DispatchDelivery, 'target' | 'place'> & { readonly profile: string };
