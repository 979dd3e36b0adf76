/** An address field whose name is taken. */

import type { TargetAddress, TargetSettings } from '../../schemas/generated/types.ts';
import { RESERVED_VALUES } from '../config/target-scope.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetAddress = {
  id: 'target-address',
  check(address: TargetAddress, settings: TargetSettings, path: NodePath): readonly Problem[] {
    return Object.keys(address).flatMap((name): readonly Problem[] => {
      const isSetting = Object.hasOwn(settings, name);
      if (!isSetting && !RESERVED_VALUES.includes(name)) return [];
      const message = `\`${name}\` is already the name of ${isSetting ? 'a setting' : 'a value of the delivery'}`;
      return [{ rule: 'target-address', path: [...path, name], at: 'key', message }];
    });
  },
} as const satisfies ListedRule;
