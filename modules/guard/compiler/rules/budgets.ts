/** Rules about budgets. */

import { agentPlan, agentPlans } from '../../../../base/names.ts';
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { Reporter } from '../../../../compiler/views/views.ts';
import type { AgentConfig, AgentPlan, BudgetConfig } from '../../../../schemas/generated/types.ts';

type Told = 'tokens' | 'cost';
type Tells = (what: Told) => boolean;

/** A budget without a limit, or with one for what no agent tells. */
export const budgetLimit = rule('budget-limit', {
  route({ config, profilePlan }, report) {
    const agent = profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
    check(config.budget, [], (what) => agent === null || planTells(agent, what), report);
  },
  job({ config, profile }, report) {
    const agent = agentPlan(profile, config.agent ?? null);
    check(config.budget, [], (what) => agent === null || planTells(agent, what), report);
  },
  agent({ agent: { path, config } }, report) {
    check(config.budget, path, (what) => configTells(config, what), report);
  },
  config({ config, scope }, report) {
    const agents = Object.values(scope.table.profiles).flatMap((profile) => agentPlans(profile));
    check(config.gateway?.budget, ['gateway'], (what) => agents.some(([, plan]) => planTells(plan, what)), report);
  },
});

function check(budget: BudgetConfig | undefined, path: NodePath, tells: Tells, report: Reporter): void {
  if (budget === undefined) return;
  const { runs, tokens, cost } = budget;
  if (runs === undefined && tokens === undefined && cost === undefined) {
    const hint = 'add `runs`, `tokens` or `cost`';
    report({ path: [...path, 'budget'], at: 'key', message: 'this budget limits nothing', hint });
  }
  for (const what of ['tokens', 'cost'] as const) {
    if (budget[what] === undefined || tells(what)) continue;
    const message = `no agent here tells ${what === 'cost' ? 'what a run has cost' : 'how many tokens a run has used'}`;
    const hint = 'it is never used up: add `runs`, or see docs/agents.md, "Usage"';
    report({ path: [...path, 'budget', what], at: 'key', message, hint });
  }
}

/** A program may write the file for its usage, unless the config says where it prints it. */
function planTells(plan: AgentPlan, what: Told): boolean {
  if (plan.kind !== 'command') return plan.kind === 'openai' && what === 'tokens';
  const { usage_paths: paths } = plan;
  if (paths === undefined) return true;
  return (what === 'cost' ? paths.cost : [...paths.input, ...paths.output]).length > 0;
}

function configTells({ command, openai, usage_paths: paths }: AgentConfig, what: Told): boolean {
  if (command === undefined) return openai !== undefined && what === 'tokens';
  if (paths === undefined) return true;
  return what === 'cost' ? paths.cost !== undefined : (paths.input ?? paths.output) !== undefined;
}
