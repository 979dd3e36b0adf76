/** A new dispatch and a change of state, in the form shared by all engines. */
import type { DispatchHead, LargeTexts } from './encode.ts';
import type { Step } from './mutations.ts';
import type { DispatchState, OpenState } from './states.ts';

export interface NewDispatch {
  readonly head: Omit<DispatchHead, 'targets'>;
  readonly texts: LargeTexts;
  /** Undefined: the route's limit is unchanged. */
  readonly max_concurrent?: number | null;
  readonly state: OpenState;
  /** Unix ms, as all times here. */
  readonly due_at: number;
  readonly now: number;
  readonly holder?: string | null;
}

export interface Move {
  readonly to: DispatchState;
  readonly at: number;
  /** Null: unchanged. */
  readonly due_at?: number | null;
  readonly started_at?: number | null;
  readonly reason?: string | null;
  /** JSON. */
  readonly answer?: string | null;
  readonly steps?: readonly Step[];
}
