/** Checks and links the text of `webhook_subscriptions.json` over a table, in steps of a few milliseconds. */
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Breather } from './breather.ts';
import type { LinkedSubscriptions, RoutePaths } from './link.ts';
import type { RouteSlot } from './link-route.ts';
import { splitObject } from './split-object.ts';

export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/**
 * Validates and lowers the file's text, or some of its entries as a text of the same form, over a table.
 * @throws Error when the text as a whole is no list of subscriptions.
 */
export type LowerSubscriptions = (
  text: string,
  table: RouteTable,
) => { readonly routes: readonly RoutePlan[]; readonly rejected: readonly Rejected[] };

export interface LoadContext {
  readonly lower: LowerSubscriptions;
  /** What is common to all routes of a table is done once. */
  readonly link: (table: RouteTable) => (plans: readonly RoutePlan[]) => LinkedSubscriptions;
}

export interface Loaded {
  readonly text: string;
  readonly table: RouteTable;
  readonly routes: RoutePaths;
  readonly rejected: readonly Rejected[];
}

export type Loading = Generator<void, Loaded>;

/** About so many characters, or so many routes, make a step. */
const STEP_CHARACTERS = 4096;
const STEP_ROUTES = 16;

/** @throws Error when the text as a whole is no list of subscriptions. */
export function* loadSubscriptions({ lower, link }: LoadContext, text: string, table: RouteTable): Loading {
  /** The last of several entries of one name counts, as in JSON. */
  const found = new Map<string, RoutePlan | string>();
  for (const piece of splitObject(text, STEP_CHARACTERS)) {
    const { routes, rejected } = lower(piece, table);
    for (const plan of routes) found.set(plan.name, plan);
    for (const { name, reason } of rejected) found.set(name, reason);
    yield;
  }
  const plans: RoutePlan[] = [];
  const rejected: Rejected[] = [];
  for (const [name, plan] of found) {
    if (typeof plan === 'string') rejected.push({ name, reason: plan });
    else if (!Object.hasOwn(table.routes, name)) plans.push(plan);
  }
  const linked = yield* linkInSteps(plans, link(table));
  return { text, table, routes: linked.routes, rejected: [...rejected, ...linked.rejected] };
}

function* linkInSteps(
  plans: readonly RoutePlan[],
  link: (plans: readonly RoutePlan[]) => LinkedSubscriptions,
): Generator<void, LinkedSubscriptions> {
  const routes = new Map<string, RouteSlot>();
  const rejected: Rejected[] = [];
  for (let at = 0; at < plans.length; at += STEP_ROUTES) {
    const linked = link(plans.slice(at, at + STEP_ROUTES));
    for (const [path, slot] of linked.routes) routes.set(path, slot);
    rejected.push(...linked.rejected);
    yield;
  }
  return { routes, rejected };
}

/** Runs to the end, with pauses in which requests are served. */
export async function inSlices(loading: Loading, breather: Breather): Promise<Loaded> {
  for (let step = loading.next(); ; step = loading.next()) {
    if (step.done === true) return step.value;
    if (breather.due) await breather.rest();
  }
}
