/** One gateway of the storm, in a separate process. Argument: JSON of `NodeOptions`. Prints its address to stdout. */

import { createService } from '../../../../main/runtime.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';

export interface NodeOptions {
  readonly table: string;
  readonly home: string;
  /** URL of the gateway's own proxy. */
  readonly database: string;
  readonly port: number;
  /** Unix ms at which the storm began. */
  readonly startedAt: number;
}

/** A job's minute passes in a second. Durations, and so leases and timers, are those of the real clock. */
const HURRY = 60;

const { table, home, database, port, startedAt } = JSON.parse(process.argv[2] ?? '') as NodeOptions;
const clock: Clock = { ...systemClock, now: () => startedAt + (Date.now() - startedAt) * HURRY };
const service = await createService({ table: { file: table }, home, env: { DATABASE_URL: database }, clock });
const { url } = await service.listen({ host: '127.0.0.1', port });
process.stdout.write(`${url}\n`);
