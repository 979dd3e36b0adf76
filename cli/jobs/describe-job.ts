/** A job and its state, for lists and `job show`. */

import type { Labelled } from '../../base/label.ts';
import { labelIn } from '../../base/label.ts';
import { describeSchedule } from '../../compiler/schedule/describe-schedule.ts';
import { nextRuns } from '../../compiler/schedule/next-runs.ts';
import type { Job } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobState, JobTick } from '../../runtime/store/job-mutations.ts';
import { isJobPaused, NO_STATE, pauseEnd } from '../../runtime/store/job-mutations.ts';
import type { DispatchSummary, StoredJobs } from '../../runtime/store/queries.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { JobReport, JobRun } from '../../schemas/built/operations/types.ts';

export interface ReportOptions {
  readonly now: number;
  /** Number of next and last runs to include. */
  readonly next: number;
  readonly runs: number;
  /** Those of the table. */
  readonly targets: Readonly<Record<string, Labelled>>;
}

/** A job's state in the store. */
export interface JobHistory {
  readonly state: JobState;
  /** Newest first. */
  readonly runs: readonly DispatchSummary[];
  readonly ticks: readonly JobTick[];
}

/** With the instants at which nothing fired. */
export type JobDetails = JobReport & Pick<JobHistory, 'ticks'>;

const NO_HISTORY: JobHistory = { state: NO_STATE, runs: [], ticks: [] };

const iso = (ms: number): string => new Date(ms).toISOString();
/** Number of ticks that are searched for missed ones. */
const TICKS = 200;

function describeRun({ id, accepted_at, delivery_id, event, state, reason }: DispatchSummary): JobRun {
  const due = event === 'schedule' ? (delivery_id.split('@').at(-1) ?? null) : null;
  return { id, started_at: iso(accepted_at), due_at: due, event, state, reason };
}

/** Reads the state of a job from the store. @param runs number of its latest runs */
export async function readHistory(store: Store, { id }: Job, jobs: StoredJobs, runs: number): Promise<JobHistory> {
  const [latest, ticks] = await Promise.all([
    store.read({ kind: 'list', filter: { job: id, limit: Math.max(1, runs) } }),
    store.read({ kind: 'job_ticks', job: id, limit: TICKS }),
  ]);
  return { state: jobs.states[id] ?? NO_STATE, runs: latest, ticks };
}

/** @param history null: nothing has ever been stored */
export function reportJob(
  job: Job,
  history: JobHistory | null,
  { now, next, runs, targets }: ReportOptions,
): JobDetails {
  const { id, name, profile, kind, description, schedule, timezone, misfire } = job;
  const known = history ?? NO_HISTORY;
  const paused = isJobPaused(known.state, job.paused, now);
  const ends = paused ? pauseEnd(known.state) : null;
  const work = known.runs[0]?.state;
  const idle = paused ? 'paused' : 'active';
  const state = work === 'pending' ? 'queued' : work === 'running' ? 'running' : idle;
  // What has been dealt with does not come again, should the clock have stepped back.
  const from = Math.max(now, known.state.cursor ?? now, ends ?? now);
  return {
    ...{ id, name, profile, kind, description, state, paused, schedule },
    paused_until: ends === null ? null : iso(ends),
    schedule_human: describeSchedule(schedule),
    ...{ timezone, deliver: job.deliver.map(({ target }) => labelIn(targets, target)), misfire },
    next_runs: paused && ends === null ? [] : nextRuns({ schedule, timezone, from, count: next }).map(iso),
    runs: known.runs.slice(0, runs).map(describeRun),
    missed: known.ticks.reduce((sum, tick) => sum + tick.missed, 0),
    ticks: known.ticks.filter(({ outcome, missed }) => outcome !== 'fired' || missed > 0),
  };
}
