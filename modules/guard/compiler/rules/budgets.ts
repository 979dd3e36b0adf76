/** Rules for budgets. */

import { agentPlan, agentPlans } from '../../../../base/names.ts';
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { Reporter } from '../../../../compiler/views/views.ts';
import type { AgentConfig, AgentPlan, BudgetConfig } from '../../../../schemas/generated/types.ts';

type UsageKind = 'tokens' | 'cost';
type Reports = (what: UsageKind) => boolean;

/** A budget without a limit, or with a limit of usage that no agent reports. */
export const budgetLimit = rule('budget-limit', {
  route({ config, profilePlan, schemes, insecure }, report) {
    const agent = profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
    check(config.budget, [], (what) => agent === null || planReports(agent, what), report);
    // Without a signature, only the route's source says who the author is.
    const named = (!insecure || config.source !== undefined) && schemes.some(({ author }) => author !== undefined);
    if (config.budget?.per_author === undefined || named) return;
    const message = 'no sender of this route says who the author of an event is, so this limit is never reached';
    const hint =
      'set `source` to one that does, limit `runs` instead, or define a source with `author`: docs/own-sources.md';
    report({ path: ['budget', 'per_author'], at: 'key', message, hint });
  },
  job({ config, profile }, report) {
    const agent = agentPlan(profile, config.agent ?? null);
    check(config.budget, [], (what) => agent === null || planReports(agent, what), report);
  },
  agent({ agent: { path, config } }, report) {
    check(config.budget, path, (what) => configReports(config, what), report);
  },
  config({ config, scope }, report) {
    const agents = Object.values(scope.table.profiles).flatMap((profile) => agentPlans(profile));
    check(config.gateway?.budget, ['gateway'], (what) => agents.some(([, plan]) => planReports(plan, what)), report);
  },
});

function check(budget: BudgetConfig | undefined, path: NodePath, reports: Reports, report: Reporter): void {
  if (budget === undefined) return;
  const { runs, tokens, cost, per_author } = budget;
  if ([runs, tokens, cost, per_author].every((limit) => limit === undefined)) {
    const hint = 'add `runs`, `tokens`, `cost` or `per_author`';
    report({ path: [...path, 'budget'], at: 'key', message: 'this budget has no limit', hint });
  }
  for (const what of ['tokens', 'cost'] as const) {
    if (budget[what] === undefined || reports(what)) continue;
    const message = `no agent reports the ${what} of its runs, so this limit is never reached`;
    const hint = 'limit `runs` instead, or report usage: docs/agents.md, "Usage"';
    report({ path: [...path, 'budget', what], at: 'key', message, hint });
  }
}

/** A program may report usage in a file, unless `usage_paths` says that it prints it. */
function planReports(plan: AgentPlan, what: UsageKind): boolean {
  if (plan.kind !== 'command') return plan.kind === 'openai';
  const { usage_paths: paths } = plan;
  if (paths === undefined) return true;
  return (what === 'cost' ? paths.cost : [...paths.input, ...paths.output]).length > 0;
}

function configReports({ command, openai, usage_paths: paths }: AgentConfig, what: UsageKind): boolean {
  if (command === undefined) return openai !== undefined;
  if (paths === undefined) return true;
  return what === 'cost' ? paths.cost !== undefined : (paths.input ?? paths.output) !== undefined;
}
