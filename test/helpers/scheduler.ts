/** A scheduler over a store and a fake clock, whose runs end immediately unless a test holds them. */
import type { JobTable } from '../../runtime/dispatch/scheduler/job.ts';
import type { SchedulerOptions } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { JobScheduler } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { JobTick } from '../../runtime/store/records.ts';
import type { JobPlan } from '../../schemas/generated/types.ts';
import { makeAdvance, makeTake } from './dispatches.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { recordLog } from './log.ts';
import type { MemoryStore } from './memory-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { profilePlan, routeTable } from './route-table.ts';

export function jobPlan(name: string, parts: Partial<JobPlan> = {}): JobPlan {
  return {
    id: name,
    name,
    profile: 'default',
    description: null,
    schedule: '0 8 * * *',
    timezone: null,
    prompt: `Do ${name}.`,
    deliver: [{ target: 'local', extra: {} }],
    agent: null,
    skills: [],
    toolsets: [],
    on_failure: [],
    paused: false,
    misfire: 'skip',
    at: { file: 'hookwright.yaml', line: 1 },
    ...parts,
  };
}

export function jobTable(...jobs: readonly JobPlan[]): JobTable {
  const { table } = routeTable({});
  return {
    gateway: { ...table.gateway, timezone: 'UTC' },
    targets: table.targets,
    profiles: { default: profilePlan('default') },
    jobs: Object.fromEntries(jobs.map((job) => [job.id, job])),
  };
}

export interface SchedulerBench {
  readonly scheduler: JobScheduler;
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly log: ReturnType<typeof recordLog>;
  /** Replaced by a test to swap the table. */
  table: JobTable;
  /** Keeps runs from ending. */
  hold: boolean;
  /** Ends every run that waits. */
  release(): Promise<void>;
  /** Instants at which scheduled runs were due, ISO, in the order of firing. */
  fired(): readonly string[];
  /** The outcomes of a job's instants, latest first. */
  ticks(job: string): readonly JobTick[];
}

export function schedulerBench(
  table: JobTable,
  parts: Partial<SchedulerOptions> & { readonly clock?: FakeClock; readonly store?: MemoryStore } = {},
): SchedulerBench {
  const clock = parts.clock ?? new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const store = parts.store ?? createMemoryStore();
  const log = recordLog();
  const ids = createIds((size) => Buffer.alloc(size, 7));
  const bench: SchedulerBench = {
    ...{ clock, store, log, table, hold: false },
    scheduler: new JobScheduler({
      ...{ store, clock, log, ids, timezone: 'UTC', pollMs: 3_600_000 },
      table: () => bench.table,
      wake: () => {
        if (!bench.hold) void bench.release();
      },
      ...parts,
    }),
    async release() {
      const { runs } = await store.write(makeTake(clock.now()));
      for (const { ref } of runs) await store.write(makeAdvance(ref, 'skipped', clock.now()));
    },
    fired: () =>
      store
        .look({ kind: 'list', filter: { limit: 1_000_000 } })
        .map(({ ref }) => store.look({ kind: 'load', ref })?.dispatch.due_at)
        .filter((at) => typeof at === 'number')
        .map((at) => new Date(at).toISOString())
        .reverse(),
    ticks: (job) => store.look({ kind: 'job_ticks', job, limit: 99 }),
  };
  return bench;
}

/** Lets the scheduler start and poll once. */
export async function begin({ scheduler }: SchedulerBench): Promise<void> {
  scheduler.start();
  await settle();
}
