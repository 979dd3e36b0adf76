/** The rows of a unit of work: those that were loaded for it, and those that it creates. */
import type { DispatchHead } from '../../../../runtime/store/encode.ts';
import type { Ref, Step } from '../../../../runtime/store/mutations.ts';
import type { NewDispatch } from '../../../../runtime/store/row-changes.ts';
import type { DispatchState } from '../../../../runtime/store/states.ts';
import type { DeliveryRow, HeadRow, JobRow, OpenRow } from './tables.ts';

/** The rows as stored, loaded by `load-unit.ts`. */
export interface LoadedRows {
  /** Numbers for new dispatches, in ascending order. */
  readonly refs: Ref[];
  /** Expiry of each known delivery id. */
  readonly claims: Map<string, number>;
  /** Limit of runs at once of each known lane. */
  readonly limits: Map<string, number | null>;
  readonly open: Map<Ref, OpenRow>;
  /** The latest event of each open group. */
  readonly groups: Map<string, Ref>;
  readonly deliveries: Map<Ref, Map<number, DeliveryRow>>;
  readonly steps: Map<Ref, Step[]>;
  readonly heads: Map<Ref, HeadRow>;
  readonly jobs: Map<string, JobRow>;
  /** `keyOfTick` of each recorded instant. */
  readonly ticks: Set<string>;
}

export interface NewUnitDispatch extends NewDispatch {
  readonly head: DispatchHead;
  readonly group?: { readonly key: string; readonly first_at: number; readonly superseded: number };
}

/** A dispatch to store, with its body separate. */
export interface DispatchRow extends HeadRow {
  readonly mode: string;
  readonly accepted_at: number;
  readonly max_concurrent: number | null;
  readonly head: string;
  readonly body: string;
}

export interface EndedRow {
  readonly ref: Ref;
  readonly state: DispatchState;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly finished_at: number;
  readonly reason: string | null;
}

/** Approximate size of a row and its indexes without its texts, in bytes. */
export const ROW_BYTES = 600;
