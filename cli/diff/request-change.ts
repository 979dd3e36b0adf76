/** Kept requests that a new table treats otherwise. */
import type { FailOn } from '../../runtime/control/operations.ts';
import type { Explanation } from '../../schemas/generated/types.ts';

export interface Replayed extends Pick<Explanation, 'taken' | 'status' | 'outcome' | 'reason' | 'prompt'> {
  readonly deliveries: readonly Pick<Explanation['deliveries'][number], 'target' | 'address'>[];
}

export interface RequestChange {
  readonly id: string;
  /** When it came, in Unix ms. */
  readonly at: number;
  readonly route: string;
  readonly event: string;
  /** `lost`: taken before and not any more; `gained`: the other way round; `changed`: another outcome, prompt or address. */
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
  /** How many of those were evaluated without the script that also decides about them. */
  readonly scripts: number;
  readonly unjudged: Readonly<Record<Unjudged, number>>;
  /** Newest first. */
  readonly changes: readonly RequestChange[];
}

/** Whether it found any of what is named. */
export function isFound({ lost, gained, changed }: RequestsReport, named: readonly FailOn[]): boolean {
  return named.some((each) => (each === 'lost' ? lost : lost + gained + changed) > 0);
}
