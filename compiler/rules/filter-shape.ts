/** A filter that is neither a leaf nor a group (§2.2). */

import type { FilterConfig } from '../../schemas/generated/types.ts';
import { groupsOf, operatorsOf } from '../config/filter-keys.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const filterShape = {
  id: 'filter-shape',
  check(config: FilterConfig, path: NodePath): readonly Problem[] {
    const at = { rule: 'filter-shape', path, at: 'value' } as const;
    const [group, second] = groupsOf(config);
    if (group === undefined) {
      const message = 'a filter is a `field` with one operator, or one of `all`, `any`, `not`';
      return config.field === undefined ? [{ ...at, message }] : [];
    }
    if (second === undefined && config.field === undefined && operatorsOf(config).length === 0) return [];
    const hint = 'put each condition into its own member of one `all`';
    return [{ ...at, message: `\`${group}\` must be the only key of its filter`, hint }];
  },
} as const satisfies ListedRule;
