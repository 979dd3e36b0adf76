/** Lowers the outcome rules of a target. */
import type { OutcomeRulePlan, TargetOutcomeRule } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { lowerCondition } from './condition.ts';
import type { TargetScope } from './scope.ts';

export const lowerOutcomes = (
  rules: readonly TargetOutcomeRule[],
  path: NodePath,
  scope: TargetScope,
): OutcomeRulePlan[] => rules.map((rule, index) => lowerOutcome(rule, [...path, index], scope));

function lowerOutcome(rule: TargetOutcomeRule, path: NodePath, scope: TargetScope): OutcomeRulePlan {
  if (rule.outcome === 'refresh' && !scope.has.exchange) {
    const message = '`refresh` needs an `exchange`; write `auth`';
    scope.report({ rule: 'target-outcome', path: [...path, 'outcome'], at: 'value', message });
  }
  return {
    when: lowerCondition(rule.when, [...path, 'when'], scope),
    outcome: rule.outcome,
    reason: rule.reason ?? null,
    wait_ms: rule.wait_seconds === undefined ? null : Math.ceil(rule.wait_seconds * 1000),
  };
}
