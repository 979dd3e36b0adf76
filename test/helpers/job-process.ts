/**
 * A process with a scheduler in it, for tests that need one to die. Its clock runs fast, so that cron's
 * minutes pass in milliseconds. Arguments: JSON of `JobProcess`. Writes a line on stdout for each run and each delivery.
 */

import { randomBytes } from 'node:crypto';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import type { CronTimes } from '../../runtime/dispatch/scheduler/job.ts';
import { readCron } from '../../runtime/dispatch/scheduler/job.ts';
import { JobScheduler } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import { startEntry } from '../../runtime/platform/process/threads.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { NO_STATE } from '../../runtime/store/records.ts';
import type { Kill as CrashKill } from '../crash/protocol.ts';
import { FastClock } from './fast-clock.ts';
import { silentLog } from './log.ts';
import { openServerStore } from './rescued-store.ts';
import { jobPlan, jobTable } from './scheduler.ts';

/** Can also be killed between the claim of an instant and its run. */
export type Kill = { readonly point: CrashKill['point'] | 'job.stored'; readonly nth: number };

export interface JobProcess {
  readonly path: string;
  /** Simulated unix ms at which the process begins. */
  readonly simulated_ms: number;
  /** How much faster than real time passes. */
  readonly speed: number;
  readonly schedule: string;
  readonly misfire: 'skip' | 'once';
  /** Simulated unix ms. The process ends once it is past and all instants due by then were handled. */
  readonly until_ms: number;
  /** The point at which it is killed, if any. */
  readonly kill: Kill | null;
}

function openStore({ path, kill }: JobProcess): Promise<Store> {
  const writer = () => startEntry(new URL('../crash/killing-writer.js', import.meta.url), { path, kill });
  return openServerStore({ path, durability: 'full', log: silentLog, writer });
}

/** Kills the process the n-th time it reaches a point. */
function createReach(kill: Kill | null): (point: string) => void {
  let reached = 0;
  return (point) => {
    if (point === kill?.point && ++reached === kill.nth) process.kill(process.pid, 'SIGKILL');
  };
}

async function main(options: JobProcess): Promise<void> {
  const clock = new FastClock(options.simulated_ms);
  const store = await openStore(options);
  const reached = createReach(options.kill);
  const agent = {
    timeout_ms: 900_000,
    max_attempts: 1,
    run({ delivery_id }: { readonly delivery_id: string }): Promise<string> {
      process.stdout.write(`run ${delivery_id}\n`);
      return Promise.resolve('done');
    },
  };
  const dispatcher = createDispatcher({
    ...{ store, clock, log: silentLog, random: () => 0.5, ids: createIds(randomBytes), observer: { reached } },
    deliverer: {
      isImmediate: () => false,
      isEnabled: () => true,
      refusal: () => null,
      deliver({ delivery_id }) {
        process.stdout.write(`delivery ${delivery_id}\n`);
        return Promise.resolve({ kind: 'ok', message_id: null, sent: 1 });
      },
    },
    agents: () => agent,
    policy: () => ({ max_attempts: 1, at_most_once: false }),
    limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 100 }),
  });
  const table = jobTable(jobPlan('j', { schedule: options.schedule, misfire: options.misfire }));
  const scheduler = new JobScheduler({
    ...{ store, clock, log: silentLog, ids: createIds(randomBytes), timezone: 'UTC', pollMs: 20_000 },
    table: () => table,
    wake: () => {
      reached('job.stored');
      dispatcher.wake();
    },
  });
  await dispatcher.start();
  // The store's reader has started: simulated minutes pass while a thread starts.
  await store.read({ kind: 'jobs_version' });
  clock.rush(options.speed);
  scheduler.start();
  const cron = readCron(options.schedule, 'UTC');
  while (clock.now() < options.until_ms || !(await isDone(store, cron, options.until_ms, clock.now()))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await scheduler.stop();
  await dispatcher.stop(10_000 * options.speed);
  await store.close();
  process.exit(0);
}

/** Every instant until then was handled, and none of its work is still running. */
async function isDone(store: Store, cron: CronTimes, until: number, now: number): Promise<boolean> {
  const { states } = await store.read({ kind: 'jobs' });
  const { cursor } = states.j ?? NO_STATE;
  const next = cursor === null ? null : cron.next(cursor);
  if (next === null || next <= until) return false;
  const { tallies } = await store.read({ kind: 'overview', now });
  return tallies.every(({ pending, running, delivering }) => pending + running + delivering === 0);
}

if (process.argv[1]?.includes('job-process') === true) void main(JSON.parse(process.argv[2] ?? '{}') as JobProcess);
