/** Finds a route by its name, static or dynamic, as the gateway would. */
import { compileSubscriptions } from '../../compiler/compile-subscriptions.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { describeProblem } from './describe-problem.ts';
import type { OpenTable } from './open-table.ts';
import { parseSubscriptions, readSubscriptionText } from './subscription-file.ts';

export interface FoundRoute {
  readonly plan: RoutePlan;
  readonly dynamic: boolean;
}

/** @throws CliError when there is no such route, or it has errors. */
export function findRoute({ home }: CliContext, name: string, { table, facts }: OpenTable): FoundRoute {
  const fixed = Object.values(table.routes).find((route) => route.name === name);
  if (fixed !== undefined) return { plan: fixed, dynamic: false };
  const text = readSubscriptionText(home);
  const names = [...parseSubscriptions(home, text).keys()];
  if (!names.includes(name))
    throw unknownRoute(name, [...Object.values(table.routes).map((route) => route.name), ...names]);
  const compiled = compileSubscriptions(text, table, facts);
  const plan = compiled.routes.find((route) => route.name === name);
  if (plan !== undefined) return { plan, dynamic: true };
  const reasons = compiled.problems.filter((problem) => problem.subscription === name).map(describeProblem);
  throw new CliError(`subscription "${name}" is not served`, ...reasons);
}

export function unknownRoute(name: string, known: readonly string[]): CliError {
  const [close] = suggest(name, known);
  return new CliError(
    `there is no route "${name}"`,
    close === undefined ? 'hookwright webhook list --all shows them' : `did you mean ${close}?`,
  );
}
