/** What a rule is: one thing that can be wrong, and why it matters. `<id>.yaml` beside it has the examples. */
import type { Severity } from '../../diagnostics/diagnostic.ts';
import type { Problem } from '../../diagnostics/problem.ts';
import type { RouteView } from '../../routes/route-scope.ts';
import type { AgentView, ConfigView, JobView, ProfileView } from './views.ts';

/**
 * The registry's entry. A rule may check things of several kinds; one without any check is said by a stage of the
 * compiler that cannot go on without it (reading, validating, lowering), and is explained here.
 */
export interface Rule {
  /** Under `lint --strict` it is printed as an error, too. */
  readonly strict?: true;
  /** Kebab-case; also the name of its file and of its section in docs/rules.md. */
  readonly id: string;
  /** An error refuses the config; a warning does not. */
  readonly severity: Severity;
  /** One sentence: what is wrong. */
  readonly title: string;
  /** What would happen otherwise. Markdown. */
  readonly why: string;
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
export const atRoute = (rule: string, message: string, hint?: string): Problem => ({
  rule,
  path: [],
  at: 'key',
  message,
  ...(hint === undefined ? {} : { hint }),
});
