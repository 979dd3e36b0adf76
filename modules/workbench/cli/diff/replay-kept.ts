/** Evaluates the kept requests of this home under two tables, with progress on a terminal. */

import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { createProgress } from '../../../../cli/output/progress.ts';
import { readStoredJobs } from '../../../../cli/store/stored-jobs.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import { createExplainer } from '../explain/explainer.ts';
import { useRequests } from '../use-requests.ts';
import { replayRequests } from './replay-requests.ts';
import type { RequestsReport } from './request-change.ts';

export interface ReplayKept {
  readonly old: RouteTable;
  readonly new: RouteTable;
  /** Number of requests; the newest are used. */
  readonly count: number;
}

/** @throws CliError when they cannot be read, or a route cannot be linked */
export async function replayKept(context: CliContext, { old, new: now, count }: ReplayKept): Promise<RequestsReport> {
  const jobs = new Set((await readStoredJobs(context)).map(({ id }) => id));
  const sides = {
    old: await createExplainer(context, old, jobs),
    new: await createExplainer(context, now, jobs),
  };
  const progress = createProgress(context, count, 'kept requests');
  try {
    return await useRequests(context, (requests) => replayRequests(requests, count, sides, progress.update));
  } catch (error) {
    if (error instanceof LinkError) throw new CliError(error.message);
    throw error;
  } finally {
    progress.end();
  }
}
