/** A value that is not allowed. */

import { PROXIES, parseNetwork } from '../config/network.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { publicUrlProblems } from './support/public-url.ts';
import type { ViewRule } from './support/view-rule.ts';

export const invalidValue = {
  id: 'invalid-value',
  group: 'shape',
  severity: 'error',
  title: 'A value is none of those that are possible here.',
  why: 'Nothing could be done with it.',
  checkRoute({ config }): readonly Problem[] {
    return publicUrlProblems(invalidValue, config.public_url);
  },
  checkConfig({ config, settings }): readonly Problem[] {
    const path = settings.pathOf('trusted_proxies') ?? [];
    const proxies = (settings.values.trusted_proxies ?? []).flatMap((text, index): readonly Problem[] => {
      if (parseNetwork(text) !== null) return [];
      const message = `\`${text}\` is not an address and not a network`;
      return [{ rule: invalidValue, path: [...path, index], at: 'value', message, hint: PROXIES }];
    });
    return [...publicUrlProblems(invalidValue, config.public_url), ...proxies];
  },
} as const satisfies ViewRule;
