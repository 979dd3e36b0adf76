/** Two definitions of one name. */

import { targetNamed } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const duplicateDefinition = {
  id: 'duplicate-definition',
  checkProfile({ config, scope }): readonly Problem[] {
    const first = new Map<string, string>();
    return targetEntries(config).flatMap(([name]): readonly Problem[] => {
      const target = targetNamed(scope.table.target_names, name) ?? name;
      const other = first.get(target);
      if (other === undefined) first.set(target, name);
      if (other === undefined) return [];
      const message = `\`${name}\` and \`${other}\` are one target`;
      const related = [{ path: ['platforms', other], message: 'it is first defined here' }];
      return [{ rule: 'duplicate-definition', path: ['platforms', name], at: 'key', message, related }];
    });
  },
} as const satisfies ViewRule;
