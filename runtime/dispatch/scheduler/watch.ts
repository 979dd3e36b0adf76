/** Which jobs the scheduler watches, and from where each counts: resumes where the store says it stopped. */
import type { JobState, WatchJob } from '../../store/job-mutations.ts';
import { NO_STATE } from '../../store/job-mutations.ts';
import type { CronTimes } from './cron-times.ts';
import { readCron } from './cron-times.ts';
import type { Job } from './job.ts';
import { jobSignature } from './job.ts';

export interface Watched {
  readonly job: Job;
  readonly cron: CronTimes;
  readonly paused: boolean;
  /** Unix ms of the latest instant that has been dealt with, or since when it counts. */
  cursor: number;
  /** Unix ms of the next instant; null: never again, or paused. */
  next: number | null;
}

export interface WatchInput {
  readonly states: Readonly<Record<string, JobState>>;
  /** What was watched until now: a schedule that has not changed is not read again. */
  readonly before: ReadonlyMap<string, Watched>;
  readonly now: number;
}

export interface WatchedJobs {
  readonly watched: ReadonlyMap<string, Watched>;
  /** To be stored: these jobs count from now on. */
  readonly begun: readonly WatchJob[];
  readonly unreadable: readonly { readonly job: string; readonly error: unknown }[];
}

/** Less is the ordinary adjustment of a clock, in ms. */
const MINUTE_MS = 60_000;

/**
 * The clock was set back: by the new time the job would be silent until the old time comes round again. It counts anew
 * from now, and the store still knows which instants have fired.
 */
export const isAhead = (cursor: number, now: number): boolean => cursor - now > MINUTE_MS;

/** Where the job was left; null when it is new, has another schedule, or the clock was set back since. */
function leftAt(job: Job, { cursor, signature }: JobState, now: number): number | null {
  const isSame = signature === jobSignature(job) || (signature === null && job.kind === 'dynamic');
  return isSame && cursor !== null && !isAhead(cursor, now) ? cursor : null;
}

/** A job that no scheduler has seen yet counts from when it was made. */
function beginAt(job: Job, { cursor, signature }: JobState, now: number): number {
  return signature === null && cursor === null && job.since !== null ? Math.min(job.since, now) : now;
}

function goesOn(known: Watched | undefined, job: Job, paused: boolean, state: JobState): known is Watched {
  if (known === undefined || known.paused !== paused || jobSignature(known.job) !== jobSignature(job)) return false;
  return (state.cursor ?? Number.NEGATIVE_INFINITY) <= known.cursor;
}

export function watchJobs(jobs: ReadonlyMap<string, Job>, { states, before, now }: WatchInput): WatchedJobs {
  const watched = new Map<string, Watched>();
  const begun: WatchJob[] = [];
  const unreadable: { job: string; error: unknown }[] = [];
  for (const [id, job] of jobs) {
    const state = (Object.hasOwn(states, id) ? states[id] : undefined) ?? NO_STATE;
    const paused = state.paused ?? job.paused;
    const known = before.get(id);
    if (goesOn(known, job, paused, state)) {
      watched.set(id, { ...known, job });
      continue;
    }
    try {
      const cron = readCron(job.schedule, job.timezone);
      const left = leftAt(job, state, now);
      const cursor = left ?? beginAt(job, state, now);
      if (left === null) begun.push({ kind: 'watch_job', job: id, signature: jobSignature(job), now: cursor });
      watched.set(id, { job, cron, paused, cursor, next: paused ? null : cron.next(cursor) });
    } catch (error) {
      unreadable.push({ job: id, error });
    }
  }
  return { watched, begun, unreadable };
}
