/** What a unit of work holds: the rows that were loaded for it, and those that it makes. */
import type { DispatchHead, LargeTexts } from '../encode.ts';
import type { Ref, Step } from '../mutations.ts';
import type { DispatchState, OpenState } from '../states.ts';
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

export interface NewUnitDispatch {
  readonly head: DispatchHead;
  readonly texts: LargeTexts;
  /** Undefined: the lane's limit stays as it is. */
  readonly max_concurrent?: number | null;
  readonly state: OpenState;
  readonly due_at: number;
  readonly now: number;
  readonly holder?: string | null;
  readonly group?: { readonly key: string; readonly first_at: number; readonly superseded: number };
}

export interface UnitMove {
  readonly to: DispatchState;
  readonly at: number;
  readonly due_at?: number | null;
  readonly started_at?: number | null;
  readonly reason?: string | null;
  /** JSON. */
  readonly answer?: string | null;
  readonly steps?: readonly Step[];
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
