/** Determines which jobs the scheduler watches, and from which instant: each resumes at its cursor in the store. */
import type { JobState, WatchJob } from '../../store/job-mutations.ts';
import { isJobPaused, NO_STATE, pauseEnd } from '../../store/job-mutations.ts';
import type { CronTimes } from './due.ts';
import { readCron } from './due.ts';
import type { Job } from './job.ts';
import { jobSignature } from './job.ts';

export interface Watched {
  readonly job: Job;
  readonly cron: CronTimes;
  readonly paused: boolean;
  /** See `pauseEnd`. */
  readonly ends: number | null;
  /** Unix ms of the latest handled instant, or from which the job is watched. */
  cursor: number;
  /** Unix ms of the next instant; null: there is none, or the job is paused. */
  next: number | null;
}

export interface WatchInput {
  readonly states: Readonly<Record<string, JobState>>;
  /** The jobs watched so far: an unchanged schedule is not parsed again. */
  readonly before: ReadonlyMap<string, Watched>;
  readonly now: number;
}

export interface WatchedJobs {
  readonly watched: ReadonlyMap<string, Watched>;
  /** Changes to store for jobs that are watched from now on. */
  readonly begun: readonly WatchJob[];
  readonly unreadable: readonly { readonly job: string; readonly error: unknown }[];
}

/** Smaller steps of the clock, in ms, are ordinary adjustments. */
const MINUTE_MS = 60_000;

/**
 * Whether the clock was set back so far that the job would not fire until it reaches the old time again. Such a job is
 * watched from now on; the store still has the instants that have fired.
 */
export const isAhead = (cursor: number, now: number): boolean => cursor - now > MINUTE_MS;

/** The stored cursor; null when the job is new, has another schedule, or the clock was set back since. */
function leftAt(job: Job, { cursor, signature }: JobState, now: number): number | null {
  const isSame = signature === jobSignature(job) || (signature === null && job.kind === 'dynamic');
  return isSame && cursor !== null && !isAhead(cursor, now) ? cursor : null;
}

/** The first cursor of a job: the creation time for a job that no scheduler has seen yet, otherwise now. */
function beginAt(job: Job, { cursor, signature }: JobState, now: number): number {
  return signature === null && cursor === null && job.since !== null ? Math.min(job.since, now) : now;
}

function isUnchanged(known: Watched | undefined, job: Job, paused: boolean, state: JobState): known is Watched {
  if (known === undefined || known.paused !== paused || known.ends !== pauseEnd(state)) return false;
  if (jobSignature(known.job) !== jobSignature(job)) return false;
  return (state.cursor ?? Number.NEGATIVE_INFINITY) <= known.cursor;
}

/** Computes the jobs to watch from now on. A job whose schedule cannot be parsed is reported and not watched. */
export function watchJobs(jobs: ReadonlyMap<string, Job>, { states, before, now }: WatchInput): WatchedJobs {
  const watched = new Map<string, Watched>();
  const begun: WatchJob[] = [];
  const unreadable: { job: string; error: unknown }[] = [];
  for (const [id, job] of jobs) {
    const state = (Object.hasOwn(states, id) ? states[id] : undefined) ?? NO_STATE;
    const paused = isJobPaused(state, job.paused, now);
    const ends = pauseEnd(state);
    const known = before.get(id);
    if (isUnchanged(known, job, paused, state)) {
      watched.set(id, { ...known, job });
      continue;
    }
    try {
      const cron = readCron(job.schedule, job.timezone);
      const left = leftAt(job, state, now);
      const cursor = left ?? beginAt(job, state, now);
      if (left === null) begun.push({ kind: 'watch_job', job: id, signature: jobSignature(job), now: cursor });
      // What was due while the job was paused is not made up for.
      const isHeld = paused && (ends === null || ends <= now);
      const next = isHeld ? null : cron.next(Math.max(cursor, ends ?? cursor));
      watched.set(id, { job, cron, paused, ends, cursor, next });
    } catch (error) {
      unreadable.push({ job: id, error });
    }
  }
  return { watched, begun, unreadable };
}
