/**
 * A process with a scheduler in it, for tests that need several, or need one to die. Its clock runs fast, so that cron's
 * minutes pass in milliseconds. Arguments: JSON of `JobProcess`. Writes a line on stdout for each run and each delivery.
 */

import { randomBytes } from 'node:crypto';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import type { CronTimes } from '../../runtime/dispatch/scheduler/cron-times.ts';
import { readCron } from '../../runtime/dispatch/scheduler/cron-times.ts';
import { JobScheduler } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { createIds } from '../../runtime/ids.ts';
import { startEntry } from '../../runtime/store/sqlite/start-thread.ts';
import { openCommandStore, openServerStore } from '../../runtime/store/sqlite-store.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { Kill as CrashKill } from '../crash/protocol.ts';
import { FastClock } from './fast-clock.ts';
import { silentLog } from './log.ts';
import { jobPlan, jobTable } from './scheduler.ts';

/** Also between the claim of an instant and its run. */
export type Kill = { readonly point: CrashKill['point'] | 'job.stored'; readonly nth: number };

export interface JobProcess {
  readonly path: string;
  /** Simulated unix ms at which the process begins. */
  readonly simulated_ms: number;
  /** How much faster than real time passes. */
  readonly speed: number;
  readonly schedule: string;
  readonly misfire: 'skip' | 'once';
  /** Simulated unix ms. The process ends once it is past and all that was due by then has been dealt with. */
  readonly until_ms: number;
  /** Null: shares the store with others. Else it is the store's one server, and is killed at this point, if at any. */
  readonly server: { readonly kill: Kill | null } | null;
}

function openStore({ path, server }: JobProcess): Store {
  if (server === null) return openCommandStore(path);
  const { kill } = server;
  const thread = () => startEntry(new URL('../crash/killing-writer.js', import.meta.url), { path, kill });
  return openServerStore({ path, durability: 'full', log: silentLog, thread });
}

/** Kills the process the n-th time it comes to a point. */
function createReach(kill: Kill | null): (point: string) => void {
  let reached = 0;
  return (point) => {
    if (point === kill?.point && ++reached === kill.nth) process.kill(process.pid, 'SIGKILL');
  };
}

function main(options: JobProcess): void {
  const clock = new FastClock(options.simulated_ms);
  const store = openStore(options);
  const reached = createReach(options.server?.kill ?? null);
  const agent = {
    timeout_ms: 900_000,
    max_attempts: 1,
    run({ delivery_id }: { readonly delivery_id: string }): Promise<string> {
      process.stdout.write(`run ${delivery_id}\n`);
      return Promise.resolve('done');
    },
  };
  const dispatcher = createDispatcher({
    ...{ store, clock, log: silentLog, random: Math.random, observer: { reached } },
    deliverer: {
      isImmediate: () => false,
      deliver({ delivery_id }) {
        process.stdout.write(`delivery ${delivery_id}\n`);
        return Promise.resolve({ kind: 'ok', message_id: null, sent: 1 });
      },
    },
    agents: () => agent,
    policy: () => ({ max_attempts: 1, retry_ambiguous: false }),
    limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 100 }),
  });
  const table = jobTable(jobPlan('j', { schedule: options.schedule, misfire: options.misfire }));
  const scheduler = new JobScheduler({
    ...{ store, clock, log: silentLog, ids: createIds(randomBytes), timezone: 'UTC', poll_ms: 20_000 },
    table: () => table,
    adopt: (ref) => {
      reached('job.stored');
      return dispatcher.adopt(ref);
    },
  });
  clock.rush(options.speed);
  // Only the store's one server takes up what is left: beside another process it may be in work there.
  if (options.server !== null) void dispatcher.start();
  scheduler.start();
  const cron = readCron(options.schedule, 'UTC');
  const watch = setInterval(async () => {
    if (clock.now() < options.until_ms || !isDone(store, cron, options.until_ms)) return;
    clearInterval(watch);
    await scheduler.stop();
    await dispatcher.stop(10_000 * options.speed);
    await store.close();
    process.exit(0);
  }, 10);
}

/** Every instant until then has been dealt with, and nothing it began is still under way. */
function isDone(store: Store, cron: CronTimes, until: number): boolean {
  const { cursor } = store.jobs.state('j');
  const next = cursor === null ? null : cron.next(cursor);
  if (next === null || next <= until) return false;
  return store.tallies().every(({ pending, running, delivering }) => pending + running + delivering === 0);
}

if (process.argv[1]?.includes('job-process') === true) main(JSON.parse(process.argv[2] ?? '{}') as JobProcess);
