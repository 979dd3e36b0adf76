/** The shape of a rule: what it looks at, and how it reports. Its YAML file says what it is about. */
import type { Problem } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { AgentView, ConfigView, JobView, ProfileView } from '../../views/config-views.ts';
import type { RouteView } from '../../views/route-scope.ts';

/** What rules look at, by kind. Paths of problems are relative to the route or job, else to the file. */
export interface Views {
  /** One static or dynamic route, with its table. */
  readonly route: RouteView;
  readonly job: JobView;
  /** The agent of a profile, with the static routes whose prompts it runs. */
  readonly agent: AgentView;
  /** The part that a profile's config and the root config have in common. */
  readonly profile: ProfileView;
  /** The whole root config. */
  readonly config: ConfigView;
}

/** What a rule reports: `applyRules` adds its id. */
export type Reported = Omit<Problem, 'rule'>;

export type Reporter = (problem: Reported) => void;

type Checks = { readonly [Kind in keyof Views]?: (view: Views[Kind], report: Reporter) => void };

export interface ViewRule extends Checks {
  readonly id: RuleId;
}

/** A rule of the file `<id>.ts` beside `<id>.yaml`. */
export const rule = (id: RuleId, checks: Checks): ViewRule => ({ id, ...checks });

/** Returns the problems that the rules report about one route, job, agent, profile or config. */
export function applyRules<Kind extends keyof Views>(
  rules: readonly ViewRule[],
  kind: Kind,
  view: Views[Kind],
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const { id, [kind]: check } of rules) check?.(view, (problem) => problems.push({ rule: id, ...problem }));
  return problems;
}
