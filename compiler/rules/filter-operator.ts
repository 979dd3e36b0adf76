/** A condition without exactly one operator (§2.2). */

import type { FilterConfig } from '../../schemas/generated/types.ts';
import { OPERATORS, operatorsOf } from '../config/filter-keys.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { flowText } from '../text/flow-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const filterOperator = {
  id: 'filter-operator',
  check(config: FilterConfig, path: NodePath): readonly Problem[] {
    const used = operatorsOf(config);
    if (used.length === 1) return [];
    const found = used.length === 0 ? 'none' : used.join(' and ');
    const message = `a filter on a field has exactly one operator, found ${found}`;
    return [
      {
        rule: 'filter-operator',
        path,
        at: 'value',
        message,
        hint: used.length === 0 ? oneMissing(config) : split(config),
      },
    ];
  },
} as const satisfies ListedRule;

const oneMissing = ({ field = 'action' }: FilterConfig): string =>
  `write, for example, \`${flowText({ field, equals: 'opened' })}\`; the operators are ${OPERATORS.join(', ')}`;

function split(config: FilterConfig): string {
  const conditions = operatorsOf(config).map((operator) => ({ field: config.field, [operator]: config[operator] }));
  const all = flowText({ all: conditions });
  if (holdsCredential(all)) return 'split it into filters under `all` or `any`';
  return `write \`${all}\`, or \`any\` if one of them is enough`;
}
