/** Jobs for tests: every field is filled, and tests name only those that matter. */
import type { FireJob, JobRecord, TickJob } from '../../runtime/store/records.ts';
import { makeDispatch } from './dispatches.ts';

export function makeJob(id: string, overrides: Partial<JobRecord> = {}): JobRecord {
  return {
    id,
    profile: 'default',
    name: `name-of-${id}`,
    description: null,
    schedule: '0 8 * * *',
    timezone: 'UTC',
    prompt: `prompt of ${id}`,
    deliver: [{ target: 'local', extra: {} }],
    skills: [],
    toolsets: null,
    misfire: 'skip',
    created_at: 1000,
    blueprint: null,
    ...overrides,
  };
}

export function makeTick(job: string, due_at: number, overrides: Partial<TickJob> = {}): TickJob {
  const dispatch = makeDispatch(`${job}-${due_at}`, { mode: 'job', route: null, job, due_at });
  return { kind: 'tick_job', job, paused: false, now: due_at, due_at, dispatch, missed: 0, ...overrides };
}

export function makeFire(job: string, id: string, overrides: Partial<FireJob> = {}): FireJob {
  const dispatch = makeDispatch(id, { mode: 'job', job });
  return {
    ...{ kind: 'fire_job', job, paused: false, now: 1000, dispatch },
    ...{ claim: null, even_paused: false },
    ...overrides,
  };
}
