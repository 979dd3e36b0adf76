/** A rule over a whole route, job, agent, profile or config. The registry's rules are asked one after the other. */
import type { Problem } from '../../diagnostics/problem.ts';
import type { Rule } from '../../diagnostics/rule.ts';
import type { AgentView, ConfigView, JobView, ProfileView } from '../../views/config-views.ts';
import type { RouteView } from '../../views/route-scope.ts';
import type { ListedRule } from './listed-rule.ts';

export interface ViewRule extends ListedRule {
  /** One route, static or dynamic, against the table it will live in. Paths are relative to the route. */
  checkRoute?(route: RouteView): readonly Problem[];
  /** One job. Paths are relative to the job. */
  checkJob?(job: JobView): readonly Problem[];
  /** The agent of a profile, and the static routes whose prompts it runs. Paths are relative to the file. */
  checkAgent?(agent: AgentView): readonly Problem[];
  /** What a profile's config and the root config have in common. Paths are relative to the file. */
  checkProfile?(profile: ProfileView): readonly Problem[];
  /** The root config as a whole. */
  checkConfig?(config: ConfigView): readonly Problem[];
}

/** For problems about the route as a whole. */
export const atRoute = (rule: Rule, message: string, hint?: string): Problem => ({
  rule,
  path: [],
  at: 'key',
  message,
  ...(hint === undefined ? {} : { hint }),
});
