/** What a unit of work holds: the rows that were loaded for it, and those that it makes. */
import type { DispatchHead } from '../encode.ts';
import type { Ref, Step } from '../mutations.ts';
import type { NewDispatch } from '../row-changes.ts';
import type { DispatchState } from '../states.ts';
import type { DeliveryRow, HeadRow, JobRow, OpenRow } from './tables.ts';

/** What is stored when a change is made; `load-unit.ts` fills it. */
export interface LoadedRows {
  /** For new dispatches, in growing order. */
  readonly refs: Ref[];
  /** Expiry of each delivery id that is known. */
  readonly claims: Map<string, number>;
  /** Runs at once of each lane that is known. */
  readonly limits: Map<string, number | null>;
  readonly open: Map<Ref, OpenRow>;
  /** The latest event of each group that is open. */
  readonly groups: Map<string, Ref>;
  readonly deliveries: Map<Ref, Map<number, DeliveryRow>>;
  readonly steps: Map<Ref, Step[]>;
  readonly heads: Map<Ref, HeadRow>;
  readonly jobs: Map<string, JobRow>;
  /** `tickKey` of each instant that was dealt with. */
  readonly ticks: Set<string>;
}

export interface NewUnitDispatch extends NewDispatch {
  readonly head: DispatchHead;
  readonly group?: { readonly key: string; readonly first_at: number; readonly superseded: number };
}

/** A dispatch to be stored, its body apart. */
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

/** What a row and its indexes take beside its texts, in bytes, about. */
export const ROW_BYTES = 600;
