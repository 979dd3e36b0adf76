/**
 * Fires jobs: at an instant, for an event, or by hand; and names them.
 *
 *   tick ──> the cursor is past it, or it is recorded: claimed
 *     └────> the cursor moves ──> paused ──> missed ──> running ──> over its budget ──> stored
 *   fire ──> the event is claimed: duplicate
 *     └────> paused ──> running ──> over its budget ──> the event is claimed now, and stored
 *
 * The run that an event has stored waits like others while its route is paused. Those of the schedule, by hand and of other
 * routes go before it meanwhile, one at a time: it waits for each of them, and has its turn again when that has ended.
 */
import type { DispatchHead, Headed, LargeTexts } from '../encode.ts';
import type { Ref } from '../identity.ts';
import { jobLine, laneParts } from '../identity.ts';
import type { FireJob, JobTick, PutJob, TickJob } from '../job-mutations.ts';
import { isJobPaused } from '../job-mutations.ts';
import type { MutationResults } from '../mutations.ts';
import { openDelivery } from './approval.ts';
import { refuseRun, reserveRun } from './budget.ts';
import { pauseOf } from './pause.ts';
import type { JobRow, WorkRow } from './rows.ts';
import type { WorkUnit } from './unit.ts';

/** Records an instant at which a job was due, and fires the job. */
export function tick(unit: WorkUnit, m: Headed<TickJob>, texts: LargeTexts): MutationResults['tick_job'] {
  const { job, due_at, missed } = m;
  const row = jobOf(unit, job);
  if ((row.cursor !== null && due_at <= row.cursor) || unit.rows.hasTick(job, due_at)) return { kind: 'claimed' };
  row.cursor = due_at;
  unit.changedJobs.add(row);
  if (isJobPaused(row, m.paused, m.now)) return { kind: 'paused' };
  const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
    unit.newTicks.push({ job, due_at, outcome, ref, missed });
  };
  const first = runOf(unit, row);
  if (m.dispatch === null || isBusy(unit, first, m.dispatch, m.now)) {
    note(m.dispatch === null ? 'missed' : 'overlapped', null);
    return { kind: m.dispatch === null ? 'missed' : 'running' };
  }
  const over = refuseRun(unit, m.budgets, m.now);
  if (over !== null) {
    note('budget', null);
    return over;
  }
  reserveRun(unit, m.budgets, m.now);
  const ref = start(unit, row, m.dispatch, texts, m.now, first);
  note('fired', ref);
  return { kind: 'stored', ref };
}

/** Fires a job for an event, or by hand. */
export function fire(unit: WorkUnit, m: Headed<FireJob>, texts: LargeTexts): MutationResults['fire_job'] {
  if (unit.isClaimed(m.claim, m.now)) return { kind: 'duplicate' };
  const row = jobOf(unit, m.job);
  if (!m.even_paused && isJobPaused(row, m.paused, m.now)) return { kind: 'paused' };
  const first = runOf(unit, row);
  if (isBusy(unit, first, m.dispatch, m.now)) {
    unit.claim(m.claim);
    return { kind: 'running' };
  }
  const over = refuseRun(unit, m.budgets, m.now);
  if (over !== null) return over;
  reserveRun(unit, m.budgets, m.now);
  unit.claim(m.claim);
  return { kind: 'stored', ref: start(unit, row, m.dispatch, texts, m.now, first) };
}

/** The state of the job; a new one if the job is unknown. */
function jobOf({ rows }: WorkUnit, job: string): JobRow {
  const row = rows.jobs.get(job) ?? { job, paused: null, paused_until: null, cursor: null, ref: null };
  rows.jobs.set(job, row);
  return row;
}

/** The run of the job that has its turn: it waits for no other one of the job, or is under way. */
function runOf({ rows }: WorkUnit, { job, ref }: JobRow): WorkRow | undefined {
  const line = rows.sessions.get(rows.keyOf(jobLine(job))) ?? [];
  const latest = rows.work.get(ref ?? 0);
  const isOpen = latest?.state === 'pending' || latest?.state === 'running';
  return line.find(({ waits_for }) => waits_for === null) ?? (isOpen ? latest : undefined);
}

/** Whether a further run has to wait for that one. One that its paused route holds lets those of that route wait alone. */
function isBusy(unit: WorkUnit, first: WorkRow | undefined, head: DispatchHead, now: number): boolean {
  if (first === undefined) return false;
  const { profile, name: route } = laneParts(first.lane);
  const isHeld = first.state === 'pending' && pauseOf(unit, { profile, route }, now) !== null;
  return !isHeld || pauseOf(unit, head, now) !== null;
}

/** @param first a run that its route holds; it waits for this one */
function start(unit: WorkUnit, row: JobRow, head: DispatchHead, texts: LargeTexts, now: number, first?: WorkRow): Ref {
  const isMessage = head.mode === 'message' && head.targets.length > 0;
  const isSent = isMessage && pauseOf(unit, head, now) === null;
  const ref = unit.insert({ head, texts, state: isSent ? 'delivering' : 'pending', due_at: now, now });
  const open = head.targets.map((target, index) => openDelivery(target, index, now));
  if (isSent) unit.addDeliveries(ref, head.profile, open, now);
  else if (first !== undefined && !isMessage) unit.goBefore(ref, first, jobLine(row.job), now);
  // A message that is held keeps no run of the job from starting.
  if (isSent || !isMessage) unit.changedJobs.add(Object.assign(row, { ref }));
  return ref;
}

/** Decides under which name a job is stored. @param jobs those of its profile, and the one with its id */
export function nameJob(
  { job, expect, numbered_beside: beside }: PutJob,
  jobs: readonly { readonly id: string; readonly name: string }[],
): MutationResults['put_job'] {
  const isKnown = jobs.some(({ id }) => id === job.id);
  if (expect === 'old' && !isKnown) return { kind: 'unknown' };
  if (expect === 'new' && isKnown) return { kind: 'name_taken' };
  const taken = new Set(jobs.filter(({ id }) => id !== job.id).map(({ name }) => name));
  let { name } = job;
  for (let n = 2; beside !== undefined && (beside.includes(name) || taken.has(name)); n++) name = `${job.name}-${n}`;
  return taken.has(name) ? { kind: 'name_taken' } : { kind: 'stored', name };
}
