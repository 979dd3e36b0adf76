/** The gate before a swap: refuses a table that would treat kept requests differently from the one in service. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { GateContext } from '../../../cli/base/module.ts';
import { readTable } from '../../../cli/compile/compile-files.ts';
import type { FailOn, RefusedSwap } from '../../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { outcomeChange } from './diff/format-differences.ts';
import type { RequestChange } from './diff/replay-requests.ts';
import { createSides, isFound, replayRequests } from './diff/replay-requests.ts';
import { openKept } from './use-requests.ts';

/** Number of kept requests that are replayed before a swap; the newest are used. */
const GATE_REQUESTS = 1000;
/** Maximum number of requests with another outcome that are named. */
const NAMED = 10;

/** @param folder of the table in service; without one there is nothing to compare with @returns null if it may pass */
export async function passGate(
  { jobs, ...context }: GateContext<CliContext>,
  failOn: readonly FailOn[],
  folder: string,
  table: RouteTable,
): Promise<RefusedSwap | null> {
  const file = join(folder, 'routes.json');
  if (failOn.length === 0 || !existsSync(file)) return null;
  const served = await readTable(file).catch(noTable);
  if (served === null) return null;
  const sides = createSides(context, jobs, { old: served, new: table });
  const requests = await openKept(context, served.gateway.store);
  try {
    const report = await replayRequests(requests, GATE_REQUESTS, sides);
    if (!isFound(report, failOn)) return null;
    const { total, lost, gained, changed, changes } = report;
    return { total, lost, gained, changed, requests: changes.slice(0, NAMED).map(named) };
  } finally {
    await requests.close();
  }
}

/** A table of another version is not compared: this version was started to replace it. */
function noTable(error: unknown): null {
  if (error instanceof CliError) return null;
  throw error;
}

function named({ id, route, kind, old, new: now }: RequestChange): RefusedSwap['requests'][number] {
  const isOther = old.outcome !== now.outcome || old.reason !== now.reason;
  return { id, route, kind, text: isOther ? outcomeChange(old, now) : 'another prompt or address' };
}
