/** Links every route of a loaded table, in pieces, or reports all reasons why the table cannot be served. */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { LinkContext } from './link-context.ts';
import { LinkError, routePaths } from './link-context.ts';
import { RouteSlot } from './link-route.ts';
import { TableError } from './load.ts';
import type { TimeSlice } from './time-slice.ts';

/** Most reasons that are listed; the rest are counted. */
const MAX_REASONS = 20;

/** Routes by request path. */
export type RoutePaths = ReadonlyMap<string, RouteSlot>;

/** A table in service. Immutable, except that slots link their routes with the first request. */
export interface LinkedTable {
  readonly plan: RouteTable;
  readonly routes: RoutePaths;
}

/** @throws TableError naming every route that cannot be served. */
export async function linkTable(table: RouteTable, context: LinkContext, timeSlice: TimeSlice): Promise<LinkedTable> {
  const routes = new Map<string, RouteSlot>();
  const reasons: string[] = [];
  for (const plan of Object.values(table.routes)) {
    try {
      addRoute(routes, plan, table, context);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      reasons.push(error.message);
    }
    if (timeSlice.isOver) await timeSlice.renew();
  }
  if (reasons.length > 0) throw new TableError(printReasons(reasons));
  return { plan: table, routes };
}

/** The routes that can be served, and why the others cannot. */
export interface LinkedSubscriptions {
  readonly routes: RoutePaths;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** Links dynamic routes over a table. A route that cannot be served does not affect the others. */
export function linkSubscriptions(
  plans: readonly RoutePlan[],
  table: RouteTable,
  context: LinkContext,
): LinkedSubscriptions {
  const routes = new Map<string, RouteSlot>();
  const rejected: { name: string; reason: string }[] = [];
  for (const plan of plans) {
    try {
      addRoute(routes, plan, table, context);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      rejected.push({ name: plan.name, reason: error.message });
    }
  }
  return { routes, rejected };
}

function addRoute(routes: Map<string, RouteSlot>, plan: RoutePlan, table: RouteTable, context: LinkContext): void {
  const route = new RouteSlot(plan, table, context);
  for (const path of routePaths(plan, table.gateway.multiplex_profiles)) routes.set(path, route);
}

function printReasons(reasons: readonly string[]): string {
  const more = reasons.length - MAX_REASONS;
  return [...reasons.slice(0, MAX_REASONS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
