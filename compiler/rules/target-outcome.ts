/** An outcome that is impossible. */

import type { TargetOutcomeRule } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetOutcome = {
  id: 'target-outcome',
  group: 'catalog',
  severity: 'error',
  title: 'An outcome is `refresh`, and the target has no `exchange` to get a new token from.',
  why: 'The executor could not refresh the token.',
  check({ outcome }: TargetOutcomeRule, hasExchange: boolean, path: NodePath): readonly Problem[] {
    if (outcome !== 'refresh' || hasExchange) return [];
    const message = '`refresh` needs an `exchange`; write `auth`';
    return [{ rule: targetOutcome, path: [...path, 'outcome'], at: 'value', message }];
  },
} as const satisfies ListedRule;
