/** Rules that check a whole route, job, agent, profile or config. */
import type { Problem } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { AgentView, ConfigView, JobView, ProfileView } from '../../views/config-views.ts';
import type { RouteView } from '../../views/route-scope.ts';
import type { ListedRule } from './listed-rule.ts';

export interface ViewRule extends ListedRule {
  /** Checks one static or dynamic route against its table. Paths are relative to the route. */
  checkRoute?(route: RouteView): readonly Problem[];
  /** Checks one job. Paths are relative to the job. */
  checkJob?(job: JobView): readonly Problem[];
  /** Checks the agent of a profile, with the static routes whose prompts it runs. Paths are relative to the file. */
  checkAgent?(agent: AgentView): readonly Problem[];
  /** Checks the part that a profile's config and the root config have in common. Paths are relative to the file. */
  checkProfile?(profile: ProfileView): readonly Problem[];
  /** Checks the whole root config. */
  checkConfig?(config: ConfigView): readonly Problem[];
}

/** Creates a problem of the whole route. */
export const atRoute = (rule: RuleId, message: string, hint?: string): Problem => ({
  rule,
  path: [],
  at: 'key',
  message,
  ...(hint === undefined ? {} : { hint }),
});
