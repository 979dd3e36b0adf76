/** A job as the scheduler sees it, whether it comes from the config or was created at run time. */
import { agentToolsets } from '../../../base/agent-plan.ts';
import type { JobPlan, OutputPlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { JobRecord } from '../../store/job-mutations.ts';

export interface Job {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
  readonly kind: 'static' | 'dynamic';
  readonly description: string | null;
  /** Five-field cron expression. */
  readonly schedule: string;
  /** IANA zone. */
  readonly timezone: string;
  readonly prompt: string;
  readonly deliver: JobPlan['deliver'];
  readonly outputs?: readonly OutputPlan[] | undefined;
  readonly budget?: JobPlan['budget'];
  /** Left out: nowhere. */
  readonly on_failure?: JobPlan['on_failure'];
  readonly agent: JobPlan['agent'];
  readonly skills: readonly string[];
  readonly toolsets: readonly string[];
  /** As configured; a pause or resume at run time is stored, and wins. */
  readonly paused: boolean;
  readonly misfire: JobPlan['misfire'];
  /** Unix ms from which it can be due; null: from when a scheduler first sees it. */
  readonly since: number | null;
}

/** Identifies the schedule that a cursor belongs to: when it changes, the cursor restarts at the current time. */
export function jobSignature(job: {
  readonly schedule: string;
  readonly timezone: string;
  readonly paused?: boolean;
}): string {
  return `${job.paused === true ? 'paused ' : ''}${job.timezone} ${job.schedule}`;
}

export type JobTable = Pick<RouteTable, 'jobs' | 'profiles' | 'gateway' | 'targets'>;

function fromPlan(plan: JobPlan, zone: string): Job {
  const { at, timezone, ...rest } = plan;
  return { ...rest, kind: 'static', timezone: timezone ?? zone, since: null };
}

function fromRecord(record: JobRecord, { profiles }: JobTable): Job {
  const { created_at, blueprint, deliver, toolsets, ...rest } = record;
  const profile = profiles[record.profile];
  return {
    ...rest,
    kind: 'dynamic',
    agent: record.agent ?? null,
    deliver: [...deliver],
    // Whatever else a row may have: a job made at run time has none.
    outputs: [],
    on_failure: [],
    toolsets: agentToolsets(toolsets ?? profile?.toolsets ?? [], profile, record.agent ?? null),
    paused: false,
    since: created_at,
  };
}

/**
 * All jobs by id. Jobs of unserved profiles are left out; a job of the config wins over a dynamic one with the same id.
 * @param machineZone IANA zone for jobs that name none in a config that names none.
 */
export function listJobs(
  table: JobTable,
  records: readonly JobRecord[],
  machineZone: string,
): ReadonlyMap<string, Job> {
  const zone = table.gateway.timezone ?? machineZone;
  const jobs = [
    ...records.map((record) => fromRecord(record, table)),
    ...Object.values(table.jobs).map((plan) => fromPlan(plan, zone)),
  ];
  return new Map(jobs.filter(({ profile }) => Object.hasOwn(table.profiles, profile)).map((job) => [job.id, job]));
}
