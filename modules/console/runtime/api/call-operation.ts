/** How operations of the API call those of the control socket, and find what a request names. */

import type { ConsoleContext } from '../../../../runtime/console/console.ts';
import type { ControlName } from '../../../../runtime/control/operations.ts';
import type { Query, QueryResults } from '../../../../runtime/store/queries.ts';
import type { ControlContract } from '../../../../schemas/built/operations/types.ts';
import type { Role } from '../access.ts';
import type { Page } from '../answer.ts';
import { ApiRefusal } from '../answer.ts';

export interface ApiContext extends Pick<ConsoleContext, 'operations' | 'readiness' | 'clock' | 'token' | 'kept'> {
  readonly role: Role;
}

/** @throws ApiRefusal where the program has no operations */
export function callOperation<Name extends ControlName>(
  { operations }: ApiContext,
  name: Name,
  input: ControlContract[Name]['input'],
): Promise<ControlContract[Name]['output']> {
  const handler = operations?.[name];
  if (handler === undefined) throw new ApiRefusal(503, 'not_available', 'this program has no operations');
  return Promise.resolve(handler(input));
}

export const read = <Q extends Query>(context: ApiContext, query: Q): Promise<QueryResults[Q['kind']]> =>
  callOperation(context, 'store_read', query) as Promise<QueryResults[Q['kind']]>;

export const notOne = (what: string, id: string, kind: 'unknown' | 'ambiguous'): ApiRefusal =>
  kind === 'unknown'
    ? new ApiRefusal(404, 'not_found', `there is no ${what} "${id}"`)
    : new ApiRefusal(409, 'ambiguous', `several have an id that begins with "${id}"`);

/** The id of a job. @param reference an id, or a name that one job has @throws ApiRefusal when there is none, or several */
export async function jobId(context: ApiContext, reference: string): Promise<string> {
  const id = await findJobId(context, reference);
  if (id === null) throw notOne('job', reference, 'unknown');
  return id;
}

async function findJobId(context: ApiContext, reference: string): Promise<string | null> {
  const [found, another] = await callOperation(context, 'jobs_list', { id: reference, limit: 2 });
  if (another !== undefined)
    throw new ApiRefusal(409, 'ambiguous', `several jobs are called "${reference}": name an id`);
  return found?.id ?? null;
}

interface Named {
  readonly profile?: string | undefined;
  readonly route?: string | undefined;
  readonly job?: string | undefined;
}

/**
 * A filter with the id of its job, which may be named by its name. What is stored of a profile, route or job that is not there any
 * more can still be asked for. @throws ApiRefusal, ControlError for a name that nothing has or had
 */
export async function checkNames<Filter extends Named>(context: ApiContext, filter: Filter): Promise<Filter> {
  const { profile = null, route = null, job } = filter;
  if (profile !== null || route !== null) await callOperation(context, 'names_check', { profile, route });
  if (job === undefined) return filter;
  const id = await findJobId(context, job);
  if (id !== null) return { ...filter, job: id };
  const stored = await read(context, { kind: 'list', filter: { job, limit: 1 } });
  if (stored.length === 0) throw notOne('job', job, 'unknown');
  return filter;
}

/** A page of what a profile has. @throws ControlError where it has nothing, and there is no such profile */
export async function ofProfile<P extends Page<unknown>>(
  context: ApiContext,
  profile: string | undefined,
  page: P,
): Promise<P> {
  if (page.items.length === 0) await checkNames(context, { profile });
  return page;
}
