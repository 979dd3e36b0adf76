/** A target that is code and data at once. */

import type { TargetFile } from '../../schemas/generated/types.ts';
import { SHARED_PARTS } from '../config/target-parts.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetDriver = {
  id: 'target-driver',
  group: 'catalog',
  severity: 'error',
  title: 'A target with a driver of its own also says how its requests are made.',
  why: 'The driver would not read it.',
  /** A driver that is code reads the address and no other part. */
  check(file: TargetFile): readonly Problem[] {
    const { driver = 'http' } = file;
    if (driver === 'http') return [];
    return [...SHARED_PARTS, 'variants' as const].flatMap((part): readonly Problem[] => {
      if (part === 'address' || file[part] === undefined) return [];
      const message = `the driver \`${driver}\` is code and does not read \`${part}\``;
      return [{ rule: targetDriver, path: [part], at: 'key', message }];
    });
  },
} as const satisfies ListedRule;
