/**
 * A process with a scheduler in it, for tests that need several, or need one to die. Its clock runs fast, so that cron's
 * minutes pass in milliseconds. Arguments: JSON of `JobProcess`. Writes a line on stdout for each run it starts.
 */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import { JobScheduler } from '../../runtime/dispatch/scheduler/scheduler.ts';
import { createIds } from '../../runtime/ids.ts';
import { openCommandStore } from '../../runtime/store/sqlite-store.ts';
import { silentLog } from './log.ts';
import { jobPlan, jobTable } from './scheduler.ts';

export interface JobProcess {
  readonly path: string;
  /** Simulated unix ms that `real_ms` stands for. */
  readonly simulated_ms: number;
  readonly real_ms: number;
  /** How much faster than real time passes. */
  readonly speed: number;
  readonly schedule: string;
  readonly misfire: 'skip' | 'once';
  /** Real ms after which the process ends by itself. */
  readonly lives_ms: number;
  /** Kills itself at the first run: when it is stored but has not begun, or while its agent works. */
  readonly die: 'stored' | 'running' | null;
}

function fastClock({ simulated_ms, real_ms, speed }: JobProcess): Clock {
  return {
    now: () => Math.floor(simulated_ms + (Date.now() - real_ms) * speed),
    monotonic: () => systemClock.monotonic() * speed,
    after: (ms, fire) => systemClock.after(ms / speed, fire),
  };
}

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
};

function main(options: JobProcess): void {
  const clock = fastClock(options);
  const store = openCommandStore(options.path);
  const agent = {
    timeout_ms: 900_000,
    max_attempts: 1,
    run({ delivery_id }: { readonly delivery_id: string }): Promise<string> {
      if (options.die === 'running') die();
      process.stdout.write(`${delivery_id}\n`);
      return Promise.resolve('done');
    },
  };
  const dispatcher = createDispatcher({
    ...{ store, clock, log: silentLog, random: Math.random },
    deliverer: { deliver: () => Promise.resolve({ kind: 'ok', message_id: null, sent: 1 }) },
    agents: () => agent,
    policy: () => ({ max_attempts: 1, retry_ambiguous: false }),
    limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 100 }),
  });
  const table = jobTable(jobPlan('j', { schedule: options.schedule, misfire: options.misfire }));
  const scheduler = new JobScheduler({
    ...{ store, clock, log: silentLog, ids: createIds(randomBytes), timezone: 'UTC', poll_ms: 20_000 },
    table: () => table,
    adopt: (ref) => (options.die === 'stored' ? die() : dispatcher.adopt(ref)),
  });
  void dispatcher.start();
  scheduler.start();
  setTimeout(async () => {
    await scheduler.stop();
    await dispatcher.stop(60_000);
    await store.close();
    process.exit(0);
  }, options.lives_ms);
}

if (process.argv[1]?.includes('job-process') === true) main(JSON.parse(process.argv[2] ?? '{}') as JobProcess);
