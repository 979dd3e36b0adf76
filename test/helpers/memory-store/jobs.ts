/** Jobs and their instants, in the store in memory. */

import { runCounter } from '../../../modules/guard/runtime/run-limits.ts';
import type { BeginRun, MutationResults } from '../../../runtime/store/contract.ts';
import type { FireJob, JobMutation, JobState, JobTick, PutJob, Ref, TickJob } from '../../../runtime/store/records.ts';
import { NO_STATE } from '../../../runtime/store/records.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { addDeliveries } from './dispatches.ts';
import { guardRows, noteAction, pauseFor } from './guard.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DispatchRow, MemoryTables } from './tables.ts';
import { claim, insert, isClaimed, move } from './tables.ts';

export function jobHandlers(tables: MemoryTables): Pick<MutationHandlers, JobMutation['kind'] | 'begin_run'> {
  return {
    put_job: (m) => put(tables, m),
    remove_job({ id }) {
      if (!tables.jobs.delete(id)) return false;
      tables.jobStates.delete(id);
      tables.jobsVersion++;
      return true;
    },
    pause_job({ job, paused, until = null, by, now }) {
      change(tables, job, { paused, paused_until: paused ? until : null, cursor: now });
      noteAction(tables, job, { did: paused ? 'paused' : 'resumed', ...(by && { by }), at: now });
      tables.jobsVersion++;
      return null;
    },
    watch_job({ job, signature, now }) {
      const { cursor = null, paused_until: end = null } = tables.jobStates.get(job) ?? {};
      // A pause that was set by a clock that was ahead lasts as long from now.
      const back = cursor === null ? 0 : Math.max(0, cursor - now);
      change(tables, job, { signature, cursor: now, paused_until: end === null ? null : end - back });
      return null;
    },
    tick_job: (m) => tick(tables, m),
    begin_run: (m) => beginRun(tables, m),
    fire_job: (m) => fire(tables, m),
    forget_ticks({ before, limit }) {
      const old = [...tables.ticks.values()].flatMap((ticks) =>
        [...ticks.keys()].filter((at) => at < before).map((at) => ({ ticks, at })),
      );
      for (const { ticks, at } of old.slice(0, limit)) ticks.delete(at);
      return Math.min(limit, old.length);
    },
  };
}

function put(tables: MemoryTables, { job, expect, numbered_beside }: PutJob): MutationResults['put_job'] {
  if (expect === 'old' && !tables.jobs.has(job.id)) return { kind: 'unknown' };
  if (expect === 'new' && tables.jobs.has(job.id)) return { kind: 'name_taken' };
  const others = [...tables.jobs.values()].filter(({ id, profile }) => id !== job.id && profile === job.profile);
  const taken = new Set([...others.map(({ name }) => name), ...(numbered_beside ?? [])]);
  let name = job.name;
  for (let number = 2; numbered_beside !== undefined && taken.has(name); number++) name = `${job.name}-${number}`;
  if (taken.has(name)) return { kind: 'name_taken' };
  tables.jobs.set(job.id, { ...job, name });
  tables.jobsVersion++;
  return { kind: 'stored', name };
}

function tick(tables: MemoryTables, m: TickJob): MutationResults['tick_job'] {
  const state = stateOf(tables, m.job);
  const ticks = tables.ticks.get(m.job) ?? new Map<number, JobTick>();
  tables.ticks.set(m.job, ticks);
  if (ticks.has(m.due_at) || m.due_at <= (state.cursor ?? Number.NEGATIVE_INFINITY)) return { kind: 'claimed' };
  change(tables, m.job, { cursor: m.due_at });
  if (isPaused(state, m)) return { kind: 'paused' };
  const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
    ticks.set(m.due_at, { due_at: m.due_at, outcome, ref, missed: m.missed });
  };
  if (m.dispatch === null) {
    note('missed', null);
    return { kind: 'missed' };
  }
  if (isBusy(tables, m.job, m.now)) {
    note('overlapped', null);
    return { kind: 'running' };
  }
  const over = runCounter.count(guardRows(tables), m.limits ?? [], m.now);
  if (over !== null) {
    note('budget', null);
    return over;
  }
  const ref = begin(tables, m.job, m.dispatch, m.now);
  note('fired', ref);
  return { kind: 'stored', ref };
}

function fire(tables: MemoryTables, m: FireJob): MutationResults['fire_job'] {
  if (m.claim !== null && isClaimed(tables, m.claim, m.now)) return { kind: 'duplicate' };
  if (!m.even_paused && isPaused(stateOf(tables, m.job), m)) return { kind: 'paused' };
  const busy = pauseFor(tables, m.dispatch, m.now) === null && isBusy(tables, m.job, m.now);
  const over = busy ? null : runCounter.count(guardRows(tables), m.limits ?? [], m.now);
  if (over !== null) return over;
  claim(tables, m.claim);
  if (busy) return { kind: 'running' };
  return { kind: 'stored', ref: begin(tables, m.job, m.dispatch, m.now) };
}

function begin(tables: MemoryTables, job: string, dispatch: Dispatch, now: number): Ref {
  const isMessage = dispatch.mode === 'message';
  const waits = pauseFor(tables, dispatch, now) !== null;
  const row = insert(tables, { dispatch, state: isMessage && !waits ? 'delivering' : 'pending', due_at: now, now });
  const { ref } = row;
  if (isMessage && !waits) {
    const open = dispatch.deliveries.map(({ target, approve_ms }, index) =>
      approve_ms === undefined
        ? { index, target, due_at: now }
        : { index, target, due_at: now + approve_ms, blocked_by: 'approval' as const },
    );
    addDeliveries(tables, row, open, now);
  }
  if (!waits) change(tables, job, { ref });
  return ref;
}

const stateOf = ({ jobStates }: MemoryTables, job: string): JobState => jobStates.get(job) ?? NO_STATE;

function change(tables: MemoryTables, job: string, to: Partial<JobState>): void {
  tables.jobStates.set(job, { ...stateOf(tables, job), ...to });
}

/** True if its latest run has not ended, and is not held by its route. */
function isBusy(tables: MemoryTables, job: string, now: number): boolean {
  const run = tables.dispatches.get(stateOf(tables, job).ref ?? 0);
  return run?.state === 'running' || (run?.state === 'pending' && pauseFor(tables, run, now) === null);
}

function beginRun(tables: MemoryTables, { ref, holder, limits, job, at }: BeginRun): MutationResults['begin_run'] {
  const row = tables.dispatches.get(ref);
  if (row?.state !== 'running' || row.holder !== holder) return { kind: 'gone' };
  const late = job === null ? null : fireLate(tables, row, job, at);
  const over = late ?? runCounter.begin(guardRows(tables), limits, at);
  if (over === null) return { kind: 'begun' };
  move(tables, row, 'skipped');
  const reason = 'reason' in over ? over.reason : over.kind;
  Object.assign(row, { holder: null, reason, finished_at: at });
  return over;
}

/** Why a held event does not fire its job when it begins; null: it does. */
function fireLate(
  tables: MemoryTables,
  { ref }: DispatchRow,
  job: { readonly id: string; readonly paused: boolean },
  now: number,
): { readonly kind: 'job_already_running' | 'job_paused' } | null {
  const state = stateOf(tables, job.id);
  if (state.ref === ref) return null;
  if (isPaused(state, { paused: job.paused, now })) return { kind: 'job_paused' };
  if (isBusy(tables, job.id, now)) return { kind: 'job_already_running' };
  change(tables, job.id, { ref });
  return null;
}

const isPaused = ({ paused, paused_until }: JobState, m: Pick<TickJob, 'paused' | 'now'>): boolean =>
  paused === true && paused_until !== null && paused_until <= m.now ? m.paused : (paused ?? m.paused);
