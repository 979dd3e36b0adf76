/** Finds a route by its name, static or dynamic, as the gateway would. */
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { findName } from '../command-line/find-name.ts';
import { describeProblem, refuseStatic } from './check-entry.ts';
import type { OpenTable } from './open-table.ts';
import { parseSubscriptions, readSubscriptionText } from './subscription-file.ts';

export interface FoundRoute {
  readonly plan: RoutePlan;
  readonly dynamic: boolean;
}

/** @param asked its name, or the beginning of it @throws CliError when there is no such route, or it has errors. */
export function findRoute({ home }: CliContext, asked: string, open: OpenTable): FoundRoute {
  const fixed = Object.values(open.table.routes).map((plan) => [plan.name, plan] as const);
  // A static route hides a subscription with its name; the file is read only when needed.
  const exact = fixed.find(([name]) => name === asked)?.[1];
  if (exact !== undefined) return { plan: exact, dynamic: false };
  const text = readSubscriptionText(home);
  const names = [...parseSubscriptions(home, text).keys()];
  const known = [...fixed, ...names.map((name) => [name, name] as const)];
  const found = findName<RoutePlan | string>({ kind: 'route', name: asked, known, listedBy: ALL_ROUTES });
  if (typeof found !== 'string') return { plan: found, dynamic: false };
  const compiled = compileSubscriptions(text, open);
  const plan = compiled.routes.find((route) => route.name === found);
  if (plan !== undefined) return { plan, dynamic: true };
  const reasons = compiled.problems.filter((problem) => problem.subscription === found).map(describeProblem);
  throw new CliError(`subscription "${found}" is not served`, ...reasons);
}

const ALL_ROUTES = 'hookwright webhook list --all';

/** The whole name of a subscription, for commands that change it. @throws CliError for a static route and for none */
export function subscriptionNamed(home: string, asked: string, open: OpenTable | null): string {
  const names = [...parseSubscriptions(home, readSubscriptionText(home)).keys()];
  if (!names.includes(asked) && open !== null) refuseStatic(asked, open);
  const known = names.map((name) => [name, name] as const);
  return findName({ kind: 'subscription', name: asked, known, listedBy: 'hookwright webhook list' });
}

export function unknownRoute(name: string, known: readonly string[]): CliError {
  const [close] = suggest(name, known);
  return new CliError(
    `there is no route "${name}"`,
    close === undefined ? `${ALL_ROUTES} shows them` : `did you mean ${close}?`,
  );
}
