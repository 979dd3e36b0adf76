/** Where a message that a person approves is held to. */
import type { DispatchDelivery, ShownPlace } from '../../schemas/generated/types.ts';

export interface HeldPlace {
  /** Null: it is held to nothing, since it sends nothing over HTTP. */
  readonly place: ShownPlace | null;
  /** The chat of a delivery that names none. */
  readonly home: string | null;
}

/** Null: the target is not enabled. */
export type FindPlace = (profile: string, target: string) => HeldPlace | null;

/** Whether a message that was shown would go elsewhere, or as something else. A target that is not enabled may be so again. */
export function hasMoved(find: FindPlace, { profile, target, place }: ShownMessage): boolean {
  if (place === undefined) return false;
  const held = find(profile, target);
  return held !== null && held.place?.digest !== place.digest;
}

type ShownMessage = Pick<DispatchDelivery, 'target' | 'place'> & { readonly profile: string };
