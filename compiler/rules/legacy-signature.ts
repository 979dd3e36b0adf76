/** A deprecated signature scheme (§9.1). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const legacySignature = {
  id: 'legacy-signature',
  checkRoute(route): readonly Problem[] {
    const [first] = route.schemes;
    if (route.insecure || first === undefined || route.schemes.some(({ deprecated }) => deprecated === null)) return [];
    const path = route.config.source === undefined ? ['auth'] : ['source'];
    const message = `the route accepts only \`${first.name}\`: ${first.deprecated}`;
    return [{ rule: 'legacy-signature', path, at: 'value', message }];
  },
} as const satisfies ViewRule;
