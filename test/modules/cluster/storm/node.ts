/** One gateway of the storm, in a separate process. Argument: JSON of `NodeOptions`. Prints its address to stdout. */

import { runtimeParts } from '../../../../cli/base/module.ts';
import { MODULES } from '../../../../main/modules.ts';
import { answerApproval, listApprovals } from '../../../../modules/outputs/runtime/approvals.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createService } from '../../../../runtime/service/service.ts';

export interface NodeOptions {
  readonly table: string;
  readonly home: string;
  /** URL of the gateway's own proxy; null: the store is a file of the home. */
  readonly database: string | null;
  readonly port: number;
  /** Unix ms at which the storm began. */
  readonly startedAt: number;
}

/** A job's minute passes in a second. Durations, and so leases and timers, are those of the real clock. */
const HURRY = 60;

const { table, home, database, port, startedAt } = JSON.parse(process.argv[2] ?? '') as NodeOptions;
const clock: Clock = { ...systemClock, now: () => startedAt + (Date.now() - startedAt) * HURRY };
const env = { PATH: process.env.PATH, ...(database === null ? {} : { DATABASE_URL: database }) };
const service = await createService({ table: { file: table }, home, env, clock }, runtimeParts(MODULES));
const { url } = await service.listen({ host: '127.0.0.1', port });
process.stdout.write(`${url}\n`);

/** How often a person looks for messages that wait for approval, and approves them, in ms. */
const APPROVE_MS = 400;
const YES = { approve: true, by: 'a person', reason: null };

async function approveAll(): Promise<void> {
  for (const { id } of await listApprovals(service.store))
    await answerApproval(service.store, id, YES, clock.now(), service.place);
  service.changed();
}

// The store may be out of reach for a time, and another gateway may have answered.
const again = (): void =>
  void approveAll()
    .catch(() => {})
    .finally(() => setTimeout(again, APPROVE_MS));
again();
