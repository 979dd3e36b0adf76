/** Compiles the static routes, each with its position in the files. */
import type { RoutePlan } from '../schemas/generated/types.ts';
import { compileRoute } from './compile-route.ts';
import type { WrittenRoute } from './config/webhook-settings.ts';
import type { Problem } from './diagnostics/problem.ts';
import type { Placer } from './placer.ts';
import type { Report } from './report.ts';
import type { Places } from './source/file-tree.ts';
import type { RouteScope } from './views/views.ts';

export interface RouteContext {
  readonly scope: RouteScope;
  readonly tree: Places;
  readonly placer: Placer;
}

/** Returns the plans by name. Routes with errors have no plan. */
export function compileRoutes(
  routes: readonly WrittenRoute[],
  { scope, tree, placer }: RouteContext,
  report: Report,
): Record<string, RoutePlan> {
  const plans = routes.flatMap(({ name, config, path }): readonly (readonly [string, RoutePlan])[] => {
    const { plan, problems } = compileRoute({ name, config, at: placer.placeOf(tree, path) }, scope);
    const isDoubtful = scope.invalidNames.has(`route:${name}`);
    report.addProblems(
      isDoubtful ? problems.filter((problem) => !isAboutWhatIsMissing(problem)) : problems,
      tree,
      path,
    );
    return plan === null ? [] : [[name, plan]];
  });
  return Object.fromEntries(plans);
}

const isAboutWhatIsMissing = ({ at, path }: Problem): boolean => at === 'key' && path.length === 0;
