/**
 * A gateway in a separate process, whose machine has its own clock. Argument: JSON of `NodeProcess`. Prints its address
 * on stdout, then a line for each dispatch that has ended.
 */

import type { RouteTable } from '../../../schemas/generated/types.ts';
import { createService } from '../operated-service.ts';

export interface NodeProcess {
  readonly home: string;
  readonly table: RouteTable;
  /** How far its machine's clock is ahead, in ms. */
  readonly aheadMs: number;
}

const { home, table, aheadMs } = JSON.parse(process.argv[2] ?? '') as NodeProcess;
const { now } = Date;
Date.now = () => now() + aheadMs;
const service = await createService({ table, home });
service.on('finished', ({ id, state }) => void process.stdout.write(`${state} ${id}\n`));
const { url } = await service.listen();
process.stdout.write(`${url}\n`);
