/** Links the routes of a loaded table and the subscriptions over it, and reports all reasons why some cannot be served. */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import { inBatches } from './batches.ts';
import type { LinkContext } from './link-context.ts';
import { LinkError, routePaths } from './link-context.ts';
import { RouteSlot } from './link-route.ts';
import { TableError } from './load.ts';

/** Most routes that are listed; the rest are counted. */
const MAX_REASONS = 100;

/** Routes by request path. */
export type RoutePaths = ReadonlyMap<string, RouteSlot>;

/** A table in service. Immutable, except that slots link their routes with the first request. */
export interface LinkedTable {
  readonly plan: RouteTable;
  readonly routes: RoutePaths;
}

/** The routes that can be served, and why the others cannot. */
export interface LinkedRoutes {
  readonly routes: RoutePaths;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * @param others reasons why the table cannot be served that do not lie in its routes, all of which the refusal names
 * @throws TableError naming these and every route that cannot be served
 */
export async function linkTable(
  table: RouteTable,
  context: LinkContext,
  others: readonly string[] = [],
): Promise<LinkedTable> {
  const { routes, rejected } = await linkRoutes(Object.values(table.routes), table, context);
  if (rejected.length + others.length > 0) {
    throw new TableError([...listReasons(rejected.map(({ reason }) => reason)), ...others].join('\n'));
  }
  return { plan: table, routes };
}

/** Links routes over a table. A route that cannot be served does not affect the others. */
export async function linkRoutes(
  plans: readonly RoutePlan[],
  table: RouteTable,
  context: LinkContext,
): Promise<LinkedRoutes> {
  const routes = new Map<string, RouteSlot>();
  const rejected: { name: string; reason: string }[] = [];
  const link = (plan: RoutePlan): void => {
    try {
      const route = new RouteSlot(plan, table, context);
      for (const path of routePaths(plan, table.gateway.multiplex_profiles)) routes.set(path, route);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      rejected.push({ name: plan.name, reason: error.message });
    }
  };
  await inBatches(plans, (batch) => batch.forEach(link));
  return { routes, rejected };
}

function listReasons(reasons: readonly string[]): readonly string[] {
  const more = reasons.length - MAX_REASONS;
  return [...reasons.slice(0, MAX_REASONS), ...(more > 0 ? [`and ${more} more`] : [])];
}
