/** The changes that run their own statements instead of sharing a unit of work, by kind. */
import type { MutationResults } from '../../../../runtime/store/mutations.ts';
import type { DirectChange, DirectKind } from '../../../../runtime/store/unit/apply.ts';
import { flushGroups } from './flush-groups.ts';
import { forgetTicks, putJob, removeJob, setPaused, watchJob } from './job-records.ts';
import type { LaneTurns } from './lane-turns.ts';
import { recover } from './recover-left.ts';
import { cleanup, expireClaims, trim } from './remove-old.ts';
import type { Scope } from './scope.ts';
import { takeWork } from './take-due.ts';

export type DirectChanges = {
  readonly [K in DirectKind]: (scope: Scope, change: DirectChange<K>) => Promise<MutationResults[K]>;
};

export const createDirectChanges = (turns: LaneTurns): DirectChanges => ({
  flush_groups: flushGroups,
  take_work: (scope, m) => takeWork(scope, turns, m),
  recover,
  expire_claims: expireClaims,
  cleanup,
  trim,
  put_job: putJob,
  remove_job: removeJob,
  pause_job: setPaused,
  watch_job: watchJob,
  forget_ticks: forgetTicks,
});
