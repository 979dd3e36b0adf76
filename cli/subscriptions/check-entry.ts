/** Checks one subscription by the rules of static routes, before it is written. */
import type { Problem } from '../../compiler/diagnostics/problem.ts';
import { isError } from '../../compiler/diagnostics/rule.ts';
import type { SubscriptionProblem } from '../../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import type { RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';
import { CliError } from '../base/errors.ts';
import type { OpenTable } from './open-table.ts';

export interface CheckedEntry {
  /** Null only if keys that the entry had before are unknown: the entry is kept but not served. */
  readonly plan: RoutePlan | null;
  readonly warnings: readonly string[];
}

/**
 * @param before the entry as it was: keys that were already unknown in it are warnings, because a newer version may know them.
 * @throws CliError listing every error.
 */
export function checkEntry(
  name: string,
  entry: RouteConfig,
  before: RouteConfig | undefined,
  open: OpenTable,
): CheckedEntry {
  refuseStatic(name, open);
  const { problems, routes } = compileSubscriptions(JSON.stringify({ [name]: entry }), open);
  const errors = problems.filter((problem) => isError(problem) && !isOldUnknown(problem, before));
  if (errors.length > 0)
    throw new CliError(`subscription "${name}" is refused, nothing was written`, ...errors.map(describeProblem));
  return { plan: routes[0] ?? null, warnings: problems.map(describeProblem) };
}

/** @throws CliError naming the place of a static route of this name. */
export function refuseStatic(name: string, { table }: OpenTable): void {
  const route = Object.hasOwn(table.routes, name) ? table.routes[name] : undefined;
  if (route === undefined) return;
  throw new CliError(`"${name}" is a static route`, `change it where it is written: ${route.at.file}:${route.at.line}`);
}

function isOldUnknown({ rule, path }: SubscriptionProblem, before: RouteConfig | undefined): boolean {
  return rule === 'unknown-key' && path.length === 2 && before !== undefined && Object.hasOwn(before, String(path[1]));
}

export function describeProblem({ path, message, rule, hint }: Problem): string {
  const [, ...inside] = path;
  const place = inside.length === 0 ? '' : `${inside.join('.')}: `;
  return `${place}${message} (${rule})${hint === undefined ? '' : `; ${hint}`}`;
}
