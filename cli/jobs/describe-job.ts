/** A job and where it stands, as lists and `job show` tell it. */
import { describeSchedule } from '../../compiler/schedule/describe-schedule.ts';
import { nextRuns } from '../../compiler/schedule/next-runs.ts';
import type { Job } from '../../runtime/dispatch/scheduler/job.ts';
import type { JobTick } from '../../runtime/store/job-mutations.ts';
import type { DispatchSummary, StoreReader } from '../../runtime/store/store.ts';

export interface JobRun {
  readonly id: string;
  /** ISO instants. */
  readonly started_at: string;
  readonly due_at: string | null;
  /** `schedule`, `manual`, or the type of the event that fired it. */
  readonly event: string;
  readonly state: DispatchSummary['state'];
  readonly reason: string | null;
}

export interface JobReport {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
  readonly kind: Job['kind'];
  readonly description: string | null;
  /** `queued`: its run waits for its turn, or for a gateway. */
  readonly state: 'active' | 'paused' | 'queued' | 'running';
  readonly paused: boolean;
  readonly schedule: string;
  readonly schedule_human: string;
  readonly timezone: string;
  readonly deliver: readonly string[];
  readonly misfire: Job['misfire'];
  /** ISO instants of the next runs; empty when paused or when it never fires. */
  readonly next_runs: readonly string[];
  /** Newest first. */
  readonly runs: readonly JobRun[];
  /** Instants at which nothing fired, as far as they are remembered. */
  readonly missed: number;
  readonly ticks: readonly JobTick[];
}

export interface ReportOptions {
  /** Null: nothing has ever been stored. */
  readonly store: StoreReader | null;
  readonly now: number;
  readonly next: number;
  readonly runs: number;
}

const iso = (ms: number): string => new Date(ms).toISOString();
/** Ticks that are looked through for missed ones. */
const TICKS = 200;

function describeRun({ id, accepted_at, delivery_id, event, state, reason }: DispatchSummary): JobRun {
  const due = event === 'schedule' ? (delivery_id.split('@').at(-1) ?? null) : null;
  return { id, started_at: iso(accepted_at), due_at: due, event, state, reason };
}

export function reportJob(job: Job, { store, now, next, runs }: ReportOptions): JobReport {
  const { id, name, profile, kind, description, schedule, timezone, misfire } = job;
  const paused = store?.jobs.state(id).paused ?? job.paused;
  const latest = store?.jobs.state(id).ref ?? null;
  const work = latest === null ? null : (store?.load(latest)?.state ?? null);
  const idle = paused ? 'paused' : 'active';
  const state = work === 'pending' ? 'queued' : work === 'running' ? 'running' : idle;
  const ticks = store?.jobs.ticks(id, TICKS) ?? [];
  // What has been dealt with does not come again, should the clock have stepped back.
  const from = Math.max(now, store?.jobs.state(id).cursor ?? now);
  return {
    ...{ id, name, profile, kind, description, state, paused, schedule },
    schedule_human: describeSchedule(schedule),
    ...{ timezone, deliver: job.deliver.map(({ target }) => target), misfire },
    next_runs: paused ? [] : nextRuns({ schedule, timezone, from, count: next }).map(iso),
    runs: store?.list({ job: id, limit: runs }).map(describeRun) ?? [],
    missed: ticks.reduce((sum, tick) => sum + tick.missed, 0),
    ticks: ticks.filter(({ outcome, missed }) => outcome !== 'fired' || missed > 0),
  };
}
