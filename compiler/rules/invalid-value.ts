/** A value that is not allowed. */

import { parseNetwork } from '../config/network.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const invalidValue = {
  id: 'invalid-value',
  group: 'shape',
  severity: 'error',
  title: 'A value is none of those that are possible here.',
  why: 'Nothing could be done with it.',
  checkConfig({ settings }): readonly Problem[] {
    const path = settings.pathOf('trusted_proxies') ?? [];
    return (settings.values.trusted_proxies ?? []).flatMap((text, index): readonly Problem[] => {
      if (parseNetwork(text) !== null) return [];
      const message = `\`${text}\` is not an address and not a network`;
      const hint = 'write `10.0.0.7`, `10.0.0.0/8` or `2001:db8::/32`; a name is not looked up';
      return [{ rule: invalidValue, path: [...path, index], at: 'value', message, hint }];
    });
  },
} as const satisfies ViewRule;
