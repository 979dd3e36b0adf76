/**
 * Compiles `webhook_subscriptions.json` against a table: at run time when the file changes, and before it is written.
 * A bad entry is rejected alone; the others go on.
 */
import type { RouteConfig, RoutePlan } from '../schemas/generated/types.ts';
import { compileRoute } from './compile-route.ts';
import type { Severity } from './diagnostics/diagnostic.ts';
import type { Problem } from './diagnostics/problem.ts';
import type { TableContent } from './lower/table-content.ts';
import type { MachineFacts } from './machine-facts.ts';
import type { RouteScope } from './route-scope.ts';
import { severityOf } from './rules/registry.ts';
import { checkShape } from './schema/validate.ts';
import { isPlainMap } from './source/plain-map.ts';

export const SUBSCRIPTIONS_FILE = 'webhook_subscriptions.json';

/** What is said about one subscription. Paths start at the file's root, with the subscription's name. */
export interface SubscriptionProblem extends Problem {
  readonly severity: Severity;
  readonly subscription: string;
}

export interface CompiledSubscriptions {
  /** By name, in the order of the file; without the rejected and without those that a static route shadows. */
  readonly routes: Readonly<Record<string, RoutePlan>>;
  /** Names of entries that have an error. */
  readonly rejected: readonly string[];
  readonly problems: readonly SubscriptionProblem[];
}

/**
 * Pure but for what the facts look up.
 * @param table any table; its routes are the static ones, which win over a subscription of the same name (§2.7).
 * @returns null when the text is not a JSON object: nothing can be said about its entries.
 */
export function compileSubscriptions(
  text: string,
  table: TableContent,
  facts: MachineFacts,
): CompiledSubscriptions | null {
  const data = parseJson(text);
  if (!isPlainMap(data)) return null;
  const scope: RouteScope = { table, facts, unsure: new Set() };
  const shape = bySubscription(checkShape('subscriptions', data));
  const routes: Record<string, RoutePlan> = {};
  const rejected: string[] = [];
  const problems: SubscriptionProblem[] = [];
  for (const [name, config] of Object.entries(data)) {
    // An entry without problems of shape is a route config.
    const compiled = shape.has(name)
      ? { plan: null, problems: [] }
      : compileSubscription(name, config as RouteConfig, scope);
    const found = [
      ...(shape.get(name) ?? []),
      ...compiled.problems.map((problem) => ({ ...problem, path: [name, ...problem.path] })),
    ];
    problems.push(...found.map((problem) => ({ ...problem, severity: severityOf(problem.rule), subscription: name })));
    if (compiled.plan === null) rejected.push(name);
    else if (!Object.hasOwn(table.routes, name)) routes[name] = compiled.plan;
  }
  return { routes, rejected, problems };
}

/** One entry, as `webhook subscribe` checks it before it writes. */
export function compileSubscription(
  name: string,
  config: RouteConfig,
  scope: RouteScope,
): ReturnType<typeof compileRoute> {
  return compileRoute({ name, config, at: { file: SUBSCRIPTIONS_FILE, line: 1 } }, scope);
}

function bySubscription(problems: readonly Problem[]): ReadonlyMap<string, readonly Problem[]> {
  const groups = new Map<string, Problem[]>();
  for (const problem of problems) {
    const name = String(problem.path[0]);
    groups.set(name, [...(groups.get(name) ?? []), problem]);
  }
  return groups;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}
