/** Kept requests whose result differs under a new table. */
import type { FailOn } from '../../../../runtime/control/operations.ts';
import type { Explanation } from '../../../../schemas/generated/types.ts';

export interface Replayed extends Pick<Explanation, 'taken' | 'status' | 'outcome' | 'reason' | 'prompt'> {
  readonly deliveries: readonly Pick<Explanation['deliveries'][number], 'target' | 'address'>[];
}

export interface RequestChange {
  readonly id: string;
  /** When it was received, in Unix ms. */
  readonly at: number;
  readonly route: string;
  readonly event: string;
  /** `lost`: no longer accepted; `gained`: newly accepted; `changed`: another outcome, prompt or address. */
  readonly kind: 'lost' | 'gained' | 'changed';
  readonly old: Replayed;
  readonly new: Replayed;
}

/** Why a kept request cannot be evaluated: its body is not kept, the new table wants a signature, no table has its route. */
export type Unjudged = 'no_body' | 'unsigned' | 'unknown_route';

export interface RequestsReport {
  readonly total: number;
  readonly same: number;
  readonly lost: number;
  readonly gained: number;
  readonly changed: number;
  /** How many were evaluated without the script of their route, which may decide otherwise. */
  readonly scripts: number;
  readonly unjudged: Readonly<Record<Unjudged, number>>;
  /** Newest first. */
  readonly changes: readonly RequestChange[];
}

/** Whether any of the named differences was found. */
export function isFound({ lost, gained, changed }: RequestsReport, named: readonly FailOn[]): boolean {
  return named.some((each) => (each === 'lost' ? lost : lost + gained + changed) > 0);
}
