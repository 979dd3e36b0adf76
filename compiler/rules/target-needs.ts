/** A variant that needs an unknown setting. */

import type { TargetSettings } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetNeeds = {
  id: 'target-needs',
  check(needs: readonly string[], settings: TargetSettings, path: NodePath): readonly Problem[] {
    return needs.flatMap((name, index): readonly Problem[] => {
      if (Object.hasOwn(settings, name)) return [];
      const message = `there is no setting \`${name}\`; the settings are ${Object.keys(settings).join(', ')}`;
      return [{ rule: 'target-needs', path: [...path, index], at: 'value', message }];
    });
  },
} as const satisfies ListedRule;
