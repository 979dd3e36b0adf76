/**
 * Fires jobs (at an instant, for an event, or by hand), begins runs, and names jobs.
 *
 *   tick ──> the cursor is past it, or it is recorded: claimed
 *     └────> the cursor moves ──> paused ──> missed ──> running ──> over its budget ──> stored
 *   fire ──> the event is claimed: duplicate
 *     └────> paused ──> running ──> over its budget ──> the event is claimed now, and stored
 *
 * An event of a paused route is always stored. It fires the job when its run begins.
 */

import { actionRow } from '../actions.ts';
import type { BeginRun, MutationResults } from '../contract.ts';
import type { DispatchHead, Headed, LargeTexts } from '../group-commit.ts';
import type { FireJob, JobTick, Pause, PauseRoute, PutJob, Ref, TickJob } from '../records.ts';
import { isJobPaused, laneKey, laneParts, pauseOfRoute, readPause } from '../records.ts';
import { openDelivery } from './blocked.ts';
import type { JobRow } from './rows.ts';
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
  if (m.dispatch === null || isRunning(unit, row, m.now)) {
    note(m.dispatch === null ? 'missed' : 'overlapped', null);
    return { kind: m.dispatch === null ? 'missed' : 'running' };
  }
  const over = unit.parts.counter.count(unit, m.limits ?? [], m.now);
  if (over !== null) {
    note('budget', null);
    return over;
  }
  const ref = start(unit, row, m, m.dispatch, texts);
  note('fired', ref);
  return { kind: 'stored', ref };
}

/** Fires a job for an event, or by hand. */
export function fire(unit: WorkUnit, m: Headed<FireJob>, texts: LargeTexts): MutationResults['fire_job'] {
  if (unit.isClaimed(m.claim, m.now)) return { kind: 'duplicate' };
  const row = jobOf(unit, m.job);
  if (!m.even_paused && isJobPaused(row, m.paused, m.now)) return { kind: 'paused' };
  if (!isHeld(unit, m.dispatch, m.now) && isRunning(unit, row, m.now)) {
    unit.claim(m.claim);
    return { kind: 'running' };
  }
  const over = unit.parts.counter.count(unit, m.limits ?? [], m.now);
  if (over !== null) return over;
  unit.claim(m.claim);
  return { kind: 'stored', ref: start(unit, row, m, m.dispatch, texts) };
}

/** The state of the job; a new one if the job is unknown. */
function jobOf({ rows }: WorkUnit, job: string): JobRow {
  const row = rows.jobs.get(job) ?? { job, paused: null, paused_until: null, cursor: null, ref: null };
  rows.jobs.set(job, row);
  return row;
}

const isHeld = (unit: WorkUnit, of: Parameters<typeof pauseOf>[1], now: number): boolean =>
  pauseOf(unit, of, now) !== null;

/** True if its latest run has not ended. A run that its paused route holds does not keep another one from starting. */
function isRunning(unit: WorkUnit, { ref }: JobRow, now: number): boolean {
  const latest = unit.rows.work.get(ref ?? 0);
  if (latest?.state !== 'pending') return latest?.state === 'running';
  const { profile, name: route } = laneParts(latest.lane);
  return !isHeld(unit, { profile, route }, now);
}

/** Stores the run, or the message, which is due immediately unless its route is paused. */
function start(unit: WorkUnit, row: JobRow, { now }: { now: number }, head: DispatchHead, texts: LargeTexts): Ref {
  const isPaused = isHeld(unit, head, now);
  const isSent = head.mode === 'message' && head.targets.length > 0 && !isPaused;
  const ref = unit.insert({ head, texts, state: isSent ? 'delivering' : 'pending', due_at: now, now });
  const open = head.targets.map((target, index) => openDelivery(target, index, now));
  if (isSent) unit.addDeliveries(ref, head.profile, open, now);
  if (!isPaused) unit.changedJobs.add(Object.assign(row, { ref }));
  return ref;
}

/** Begins a run that was taken, unless its budget is full, or its job is already running. */
export function beginRun(unit: WorkUnit, m: BeginRun): MutationResults['begin_run'] {
  const row = unit.rows.work.get(m.ref);
  if (row === undefined || row.holder !== m.holder || row.state !== 'running') return { kind: 'gone' };
  const over = fireForHeldEvent(unit, m) ?? unit.parts.counter.begin(unit, m.limits, m.at);
  if (over === null) return { kind: 'begun' };
  unit.move(row, { to: 'skipped', at: m.at, reason: 'reason' in over ? over.reason : over.kind });
  return over;
}

/** Why the event does not fire its job; null: it does. An event that its route has held fires the job only now. */
function fireForHeldEvent(
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

/** Decides the name under which a job is stored. @param jobs those of its profile, and the one with its id */
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

/** Pauses or resumes a route. A pause that is already in effect keeps its start, unless it gets an end: `recover` keeps its duration. */
export function changePause(unit: WorkUnit, m: PauseRoute): null {
  const { profile, route, paused, until, by, now } = m;
  const held = pauseOf(unit, { profile, route }, now);
  const { since = now } = (until === null ? held : null) ?? {};
  const body = paused ? JSON.stringify({ since, until, ...(by === undefined ? {} : { by }) } satisfies Pause) : null;
  unit.putGuardRow({ ...pauseOfRoute(profile, route), body }, paused ? until : null);
  // Resuming a route that is not paused changes nothing.
  return paused || held !== null ? noteAction(unit, laneKey(profile, route), m) : null;
}

/** Notes who has paused or resumed a route or job. */
export function noteAction(unit: WorkUnit, ...of: Parameters<typeof actionRow>): null {
  const { expires_at, ...row } = actionRow(...of);
  unit.putGuardRow(row, expires_at);
  return null;
}

/** The pause of the dispatch's route; null: the route is not paused. */
export function pauseOf(
  unit: WorkUnit,
  { profile, route }: { readonly profile: string; readonly route: string | null },
  now: number,
): Pause | null {
  return readPause(unit.guardRow(pauseOfRoute(profile, route)), now);
}
