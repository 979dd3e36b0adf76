/** A target with both a driver and requests. */

import type { TargetFile } from '../../schemas/generated/types.ts';
import { SHARED_PARTS } from '../config/target-parts.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetDriver = {
  id: 'target-driver',
  /** A driver reads only the address. */
  check(file: TargetFile): readonly Problem[] {
    const { driver = 'http' } = file;
    if (driver === 'http') return [];
    return [...SHARED_PARTS, 'variants' as const].flatMap((part): readonly Problem[] => {
      if (part === 'address' || file[part] === undefined) return [];
      const message = `the driver \`${driver}\` is code and does not read \`${part}\``;
      return [{ rule: 'target-driver', path: [part], at: 'key', message }];
    });
  },
} as const satisfies ListedRule;
