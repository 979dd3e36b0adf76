/** Checks and links the text of `webhook_subscriptions.json` over a table, in steps of a few milliseconds. */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { LinkedSubscriptions, RoutePaths } from './link.ts';
import type { RouteSlot } from './link-route.ts';
import { splitObject } from './split-object.ts';
import type { TimeSlice } from './time-slice.ts';

export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/**
 * Validates and lowers the file's text, or a part of it in the same form, over a table.
 * @throws Error when the text is not an object of subscriptions.
 */
export type LowerSubscriptions = (
  text: string,
  table: RouteTable,
) => { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };

export interface LoadContext {
  readonly lower: LowerSubscriptions;
  /** Reads once what these routes share, such as their secrets. Returns a function that links some of them. */
  readonly link: (
    table: RouteTable,
    plans: readonly RoutePlan[],
  ) => Promise<(some: readonly RoutePlan[]) => LinkedSubscriptions>;
}

export interface Loaded {
  readonly text: string;
  readonly table: RouteTable;
  readonly routes: RoutePaths;
  readonly rejected: readonly Rejected[];
}

/** Approximate size of a step, in characters or routes. */
const STEP_CHARACTERS = 4096;
const STEP_ROUTES = 16;

/** Rejects when the text is not an object of subscriptions. */
export async function loadSubscriptions(
  { lower, link }: LoadContext,
  text: string,
  table: RouteTable,
  timeSlice: TimeSlice,
): Promise<Loaded> {
  // Of several entries with one name the last counts, as in JSON.
  const found = new Map<string, RoutePlan | string>();
  for (const piece of splitObject(text, STEP_CHARACTERS)) {
    const { routes, rejected } = lower(piece, table);
    for (const plan of routes) found.set(plan.name, plan);
    for (const { name, reason } of rejected) found.set(name, reason);
    if (timeSlice.isOver) await timeSlice.renew();
  }
  const plans: RoutePlan[] = [];
  const rejected: Rejected[] = [];
  for (const [name, plan] of found) {
    if (typeof plan === 'string') rejected.push({ name, reason: plan });
    else if (!Object.hasOwn(table.routes, name)) plans.push(plan);
  }
  const linked = await linkInSteps(plans, await link(table, plans), timeSlice);
  return { text, table, routes: linked.routes, rejected: [...rejected, ...linked.rejected] };
}

async function linkInSteps(
  plans: readonly RoutePlan[],
  link: (plans: readonly RoutePlan[]) => LinkedSubscriptions,
  timeSlice: TimeSlice,
): Promise<LinkedSubscriptions> {
  const routes = new Map<string, RouteSlot>();
  const rejected: Rejected[] = [];
  for (let at = 0; at < plans.length; at += STEP_ROUTES) {
    const linked = link(plans.slice(at, at + STEP_ROUTES));
    for (const [path, slot] of linked.routes) routes.set(path, slot);
    rejected.push(...linked.rejected);
    if (timeSlice.isOver) await timeSlice.renew();
  }
  return { routes, rejected };
}
