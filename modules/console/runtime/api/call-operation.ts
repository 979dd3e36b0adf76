/** Calls control operations for the API, and resolves the names in a request. */

import type { ConsoleContext } from '../../../../runtime/console/console.ts';
import type { ControlName } from '../../../../runtime/control/operations.ts';
import type { FigureRecorder } from '../../../../runtime/metrics/metrics.ts';
import type { Query, QueryResults } from '../../../../runtime/store/queries.ts';
import type { Person } from '../../../../runtime/table/link-people.ts';
import type { ControlContract, JobReport } from '../../../../schemas/built/operations/types.ts';
import type { Page } from '../answer.ts';
import { ApiRefusal } from '../answer.ts';

type Needed = 'operations' | 'readiness' | 'clock' | 'plan' | 'isOpen' | 'kept';

export interface ApiContext extends Pick<ConsoleContext, Needed> {
  readonly person: Person;
  /** The person as `actor` names them. */
  readonly by: string;
  /** Null: not recorded. */
  readonly figures: FigureRecorder | null;
}

/** @throws ApiRefusal if this program has no control operations */
export function callOperation<Name extends ControlName>(
  { operations }: ApiContext,
  name: Name,
  input: ControlContract[Name]['input'],
): Promise<ControlContract[Name]['output']> {
  const handler = operations?.[name];
  if (handler === undefined) throw new ApiRefusal(503, 'not_available', 'this program has no control operations');
  return Promise.resolve(handler(input));
}

export const read = <Q extends Query>(context: ApiContext, query: Q): Promise<QueryResults[Q['kind']]> =>
  callOperation(context, 'store_read', query) as Promise<QueryResults[Q['kind']]>;

export const notOne = (what: string, id: string, kind: 'unknown' | 'ambiguous'): ApiRefusal =>
  kind === 'unknown'
    ? new ApiRefusal(404, 'not_found', `there is no ${what} "${id}"`)
    : new ApiRefusal(409, 'ambiguous', `several ids begin with "${id}": use a longer prefix`);

/** @param reference an id, or a unique name @throws ApiRefusal for an unknown or ambiguous reference */
export async function namedJob(context: ApiContext, reference: string): Promise<JobReport> {
  const job = await findJob(context, reference);
  if (job === null) throw notOne('job', reference, 'unknown');
  return job;
}

export const jobId = async (context: ApiContext, reference: string): Promise<string> =>
  (await namedJob(context, reference)).id;

async function findJob(context: ApiContext, reference: string): Promise<JobReport | null> {
  const [found, another] = await callOperation(context, 'jobs_list', { id: reference, limit: 2 });
  if (another !== undefined)
    throw new ApiRefusal(409, 'ambiguous', `several jobs have the name "${reference}": use an id`);
  return found ?? null;
}

interface Named {
  readonly profile?: string | undefined;
  readonly route?: string | undefined;
  readonly job?: string | undefined;
}

/**
 * Resolves the job name of a filter to its id. A deleted profile, route or job is accepted while the store has entries for it.
 * @throws ApiRefusal, ControlError for an unknown name
 */
export async function checkNames<Filter extends Named>(context: ApiContext, filter: Filter): Promise<Filter> {
  const { profile = null, route = null, job } = filter;
  if (profile !== null || route !== null) await callOperation(context, 'names_check', { profile, route });
  if (job === undefined) return filter;
  const found = await findJob(context, job);
  if (found !== null) return { ...filter, job: found.id };
  const stored = await read(context, { kind: 'list', filter: { job, limit: 1 } });
  if (stored.length === 0) throw notOne('job', job, 'unknown');
  return filter;
}

/** Checks the profile of an empty page. @throws ControlError for an unknown profile */
export async function ofProfile<P extends Page<unknown>>(
  context: ApiContext,
  profile: string | undefined,
  page: P,
): Promise<P> {
  if (page.items.length === 0) await checkNames(context, { profile });
  return page;
}
