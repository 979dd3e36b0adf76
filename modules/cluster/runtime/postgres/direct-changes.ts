/** The changes that run their own statements instead of sharing a unit of work, by kind. */
import type { FlushGroups } from '../../../../runtime/store/event-mutations.ts';
import type { MutationResults } from '../../../../runtime/store/mutations.ts';
import type { DirectChange, DirectKind } from '../../../../runtime/store/unit/apply.ts';
import { addFigures } from './figures.ts';
import { forgetTicks, putJob, removeJob, setPaused, watchJob } from './job-records.ts';
import { recover } from './recover-left.ts';
import { cleanup, expireClaims, trim } from './remove-old.ts';
import type { LaneTurns } from './take-due.ts';
import { takeWork } from './take-due.ts';
import type { Scope } from './transact.ts';

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
  add_figures: addFigures,
});

async function flushGroups({ db }: Scope, { now }: FlushGroups): Promise<null> {
  await db.change("UPDATE work SET due_at = $1, set_at = $1 WHERE group_key IS NOT NULL AND state = 'pending'", [now]);
  return null;
}
