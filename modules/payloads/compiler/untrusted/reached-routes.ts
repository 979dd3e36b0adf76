/** The routes through which text of strangers reaches an agent, for rules about the agent. */
import type { RouteView } from '../../../../compiler/views/views.ts';
import type { UntrustedPart } from './untrusted-texts.ts';
import { untrustedParts } from './untrusted-texts.ts';

export interface Reached {
  readonly name: string;
  readonly part: UntrustedPart;
  readonly route: RouteView;
}

const MAX_ROUTES = 3;

/** The routes whose operators have not accepted that strangers steer the agent. */
export const firstReached = (routes: Iterable<RouteView>): readonly Reached[] =>
  reachedRoutes(routes, ({ config }) => config.accept_untrusted === undefined);

/** Returns at most one more route than `nameRoutes` names. */
export function reachedRoutes(
  routes: Iterable<RouteView>,
  isCounted: (route: RouteView) => boolean = () => true,
): readonly Reached[] {
  const reached: Reached[] = [];
  for (const route of routes) {
    const [part] = isCounted(route) ? untrustedParts(route) : [];
    if (part !== undefined) reached.push({ name: route.name, part, route });
    if (reached.length > MAX_ROUTES) break;
  }
  return reached;
}

export function nameRoutes(reached: readonly Reached[]): string {
  const shown = reached.slice(0, MAX_ROUTES).map(({ name }) => `\`${name}\``);
  const others = reached.length > MAX_ROUTES ? ' and others' : '';
  return `the route${reached.length === 1 ? '' : 's'} ${shown.join(', ')}${others}`;
}
