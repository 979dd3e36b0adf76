/** A coalesce key that is the same for every event (§2.3). */

import type { TemplatePlan } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const coalesceKey = {
  id: 'coalesce-key',
  check(text: string, plan: TemplatePlan): readonly Problem[] {
    if (plan.some(({ kind }) => kind !== 'text')) return [];
    const message =
      `the key ${JSON.stringify(text)} is the same for every event; ` +
      'write a dotted field (pull_request.number) or a template ({repository.full_name}#{number})';
    return [{ rule: 'coalesce-key', path: [], at: 'value', message }];
  },
} as const satisfies ListedRule;
