/** Fires jobs: at an instant, for an event, or by hand. The job's state is locked when this is decided. */
import type { Headed, LargeTexts } from '../../../../runtime/store/encode.ts';
import type { FireJob, JobTick, TickJob } from '../../../../runtime/store/job-mutations.ts';
import type { MutationResults, Ref } from '../../../../runtime/store/mutations.ts';
import { keyOfTick } from './keys.ts';
import type { JobRow } from './tables.ts';
import type { WorkUnit } from './unit.ts';

/** Records an instant at which a job was due, and fires the job. */
export function tick(unit: WorkUnit, m: Headed<TickJob>, texts: LargeTexts): MutationResults['tick_job'] {
  const row = unit.job(m.job);
  const key = keyOfTick(m.job, m.due_at);
  if ((row.cursor !== null && m.due_at <= row.cursor) || unit.loaded.ticks.has(key)) return { kind: 'claimed' };
  row.cursor = m.due_at;
  unit.changedJobs.add(row);
  if (row.paused ?? m.paused) return { kind: 'paused' };
  const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
    unit.loaded.ticks.add(key);
    unit.newTicks.push({ job: m.job, due_at: m.due_at, outcome, ref, missed: m.missed });
  };
  if (m.dispatch === null || row.running) {
    note(m.dispatch === null ? 'missed' : 'overlapped', null);
    return { kind: m.dispatch === null ? 'missed' : 'running' };
  }
  const ref = start(unit, row, m.dispatch, texts, m.now);
  note('fired', ref);
  return { kind: 'stored', ref };
}

/** Fires a job for an event, or by hand. */
export function fire(unit: WorkUnit, m: Headed<FireJob>, texts: LargeTexts): MutationResults['fire_job'] {
  if (unit.isClaimed(m.claim, m.now)) return { kind: 'duplicate' };
  const row = unit.job(m.job);
  if (!m.even_paused && (row.paused ?? m.paused)) return { kind: 'paused' };
  unit.claim(m.claim);
  if (row.running) return { kind: 'running' };
  return { kind: 'stored', ref: start(unit, row, m.dispatch, texts, m.now) };
}

function start(unit: WorkUnit, row: JobRow, head: Headed<FireJob>['dispatch'], texts: LargeTexts, now: number): Ref {
  const ref = unit.insert({ head, texts, state: 'pending', due_at: now, now });
  Object.assign(row, { ref, running: true });
  unit.changedJobs.add(row);
  return ref;
}
