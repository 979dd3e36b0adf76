/** The changes that are decided over the rows of a unit of work, and those that an engine makes with statements of its own. */
import type { Headed, LargeTexts } from '../encode.ts';
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';
import { accept, join } from './accept.ts';
import { advance, giveUp, recordAttempt } from './advance.ts';
import { storeAnswer, storeNotice } from './approval.ts';
import { putGuard } from './guard.ts';
import { beginRun, fire, tick } from './jobs.ts';
import { resend } from './message.ts';
import { changePause } from './pause.ts';
import type { WorkUnit } from './unit.ts';

export type UnitKind =
  | 'accept'
  | 'join_group'
  | 'advance'
  | 'record_attempt'
  | 'give_up'
  | 'answer_approval'
  | 'tell_approval'
  | 'resend'
  | 'put_guard'
  | 'pause_route'
  | 'begin_run'
  | 'tick_job'
  | 'fire_job';
export type DirectKind = Exclude<MutationKind, UnitKind>;

type Of<K extends MutationKind> = Headed<Extract<Mutation, { kind: K }>>;
export type UnitChange = Of<UnitKind>;
export type DirectChange<K extends DirectKind = DirectKind> = Of<K>;

/** What an engine of one process makes with its own statements. */
export type DirectHandlers = { readonly [K in DirectKind]: (change: DirectChange<K>) => MutationResults[K] };

const CHANGES: {
  readonly [K in UnitKind]: (unit: WorkUnit, change: Of<K>, texts: LargeTexts) => MutationResults[K];
} = {
  accept,
  join_group: join,
  advance,
  record_attempt: recordAttempt,
  give_up: giveUp,
  answer_approval: storeAnswer,
  tell_approval: storeNotice,
  resend,
  put_guard: putGuard,
  pause_route: changePause,
  begin_run: beginRun,
  tick_job: tick,
  fire_job: fire,
};

export const isUnitChange = (change: Headed<Mutation>): change is UnitChange => Object.hasOwn(CHANGES, change.kind);

/** Makes the change in the unit's rows; returns its result. */
export function applyToUnit(unit: WorkUnit, change: UnitChange, texts: LargeTexts): MutationResults[UnitKind] {
  const apply = CHANGES[change.kind] as (
    unit: WorkUnit,
    change: UnitChange,
    texts: LargeTexts,
  ) => MutationResults[UnitKind];
  return apply(unit, change, texts);
}
