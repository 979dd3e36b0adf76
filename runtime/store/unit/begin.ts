/** Begins a run that was taken, unless its budget is full, or it fires a job that is running. */
import { isJobPaused } from '../job-mutations.ts';
import type { MutationResults } from '../mutations.ts';
import type { BeginRun } from '../work-mutations.ts';
import { refuseMetered } from './budget.ts';
import { isRunning, jobOf } from './jobs.ts';
import type { WorkUnit } from './unit.ts';

export function beginRun(unit: WorkUnit, m: BeginRun): MutationResults['begin_run'] {
  const row = unit.rows.work.get(m.ref);
  if (row === undefined || row.holder !== m.holder || row.state !== 'running') return { kind: 'gone' };
  const over = fireHeld(unit, m) ?? refuseMetered(unit, m.budgets, m.at);
  if (over === null) return { kind: 'begun' };
  unit.move(row, { to: 'skipped', at: m.at, reason: over.kind === 'over_budget' ? 'budget' : over.kind });
  return over;
}

/** Why the event does not fire its job; null: its run is that of the job. One that its route has held fires the job only now. */
function fireHeld(
  unit: WorkUnit,
  { ref, job, at }: BeginRun,
): { readonly kind: 'job_already_running' | 'job_paused' } | null {
  if (job === null) return null;
  const row = jobOf(unit, job.id);
  if (row.ref === ref) return null;
  if (isJobPaused(row, job.paused, at)) return { kind: 'job_paused' };
  if (isRunning(unit, row, at)) return { kind: 'job_already_running' };
  unit.changedJobs.add(Object.assign(row, { ref }));
  return null;
}
