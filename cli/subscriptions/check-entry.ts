/** Checks one subscription by the rules of static routes, before it is written. */
import { join } from 'node:path';
import type { Problem } from '../../compiler/diagnostics/problem.ts';
import { isError, ruleOf } from '../../compiler/diagnostics/rule.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { overlayFiles } from '../../compiler/source/overlay-files.ts';
import type { SubscriptionProblem } from '../../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions, SUBSCRIPTIONS_FILE } from '../../compiler/stages/compile-subscriptions.ts';
import type { RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { compileRequest, createCompileRequest } from '../compile/compile-files.ts';
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

/**
 * Warnings about texts by strangers that the subscription alone causes, also in the agent that reads them. The table does
 * not have what these rules look at, so the configuration is compiled, with the subscription and without it.
 */
export async function strangerWarnings(
  context: CliContext,
  name: string,
  entry: RouteConfig,
  { configs }: OpenTable,
): Promise<readonly string[]> {
  const request = await createCompileRequest(context, { configs });
  const warningsWith = (entries: Readonly<Record<string, RouteConfig>>): readonly string[] => {
    const changes = new Map([[join(context.home, SUBSCRIPTIONS_FILE), JSON.stringify(entries)]]);
    const { diagnostics } = compileRequest(request, overlayFiles(nodeFiles, changes));
    const found = diagnostics.filter(
      ({ rule, severity }) => severity === 'warning' && ruleOf(rule).group === 'strangers',
    );
    return found.map(({ rule, message, hint }) =>
      describeProblem({ path: [], rule, message, ...(hint === undefined ? {} : { hint }) }),
    );
  };
  const before = new Set(warningsWith({}));
  return warningsWith({ [name]: entry }).filter((warning) => !before.has(warning));
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

export function describeProblem({
  path,
  message,
  rule,
  hint,
}: Pick<Problem, 'path' | 'message' | 'rule' | 'hint'>): string {
  const [, ...inside] = path;
  const place = inside.length === 0 ? '' : `${inside.join('.')}: `;
  return `${place}${message} (${rule})${hint === undefined ? '' : `; ${hint}`}`;
}
