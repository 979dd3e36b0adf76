/** An outcome that is impossible. */

import type { TargetOutcomeRule } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetOutcome = {
  id: 'target-outcome',
  check({ outcome }: TargetOutcomeRule, hasExchange: boolean, path: NodePath): readonly Problem[] {
    if (outcome !== 'refresh' || hasExchange) return [];
    const message = '`refresh` needs an `exchange`; write `auth`';
    return [{ rule: 'target-outcome', path: [...path, 'outcome'], at: 'value', message }];
  },
} as const satisfies ListedRule;
