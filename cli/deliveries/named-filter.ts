/** Checks the names in conditions of `deliveries` and `requests`. Separate from filter.ts because finding a job loads the compiler. */
import type { CliContext } from '../base/context.ts';
import { openJob } from '../jobs/open-jobs.ts';
import { useStore } from '../store/use-store.ts';
import { routeNames, unknownRoute } from '../subscriptions/routes.ts';
import type { Filter } from './filter.ts';

/** Number of the newest rows that are searched for names of removed routes. */
export const SEARCHED = 1000;

/**
 * Returns the filter with the id of its job. Names of removed routes and jobs are accepted while their rows are stored.
 * @throws CliError for a route or job that is neither in use nor stored
 */
export async function namedFilter(
  context: CliContext,
  filter: Filter,
  config: readonly string[] | undefined,
): Promise<Filter> {
  const { route, job } = filter;
  const read = async (of: Filter, limit: number) =>
    (await useStore(context, (store) => store.read({ kind: 'list', filter: { ...of, limit } }), config)) ?? [];
  if (route !== undefined && (await read({ route }, 1)).length === 0) {
    const rows = await read({}, SEARCHED);
    const stored = rows.flatMap((row) => row.route ?? []);
    checkRouteName(context, route, stored);
  }
  if (job === undefined || (await read({ job }, 1)).length > 0) return filter;
  return { ...filter, job: (await openJob(context, { reference: job, profile: undefined, config })).job.id };
}

/** @param stored names of routes in the listed rows @throws CliError if neither a current route nor a row has this name */
export function checkRouteName(context: CliContext, name: string, stored: readonly string[]): void {
  const known = [...new Set([...routeNames(context), ...stored])];
  if (known.length > 0 && !known.includes(name)) throw unknownRoute(name, known);
}
