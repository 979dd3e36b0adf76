/** Where a message that a person approves is held to. */
import type { ShownPlace } from '../../schemas/generated/types.ts';

export interface HeldPlace {
  /** Null: it is held to nothing, since it sends nothing over HTTP. */
  readonly place: ShownPlace | null;
  /** The chat of a delivery that names none. */
  readonly home: string | null;
}

/** Null: the target is not enabled. */
export type FindPlace = (profile: string, target: string) => HeldPlace | null;
