/** A source without signatures. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unsignedSource = {
  id: 'unsigned-source',
  checkRoute(route): readonly Problem[] {
    const { source } = route.config;
    if (route.insecure || source === undefined || route.schemes.length === 0) return [];
    if (!route.schemes.every(({ verify }) => verify === 'none')) return [];
    const message = `\`${source}\` does not sign its requests: every one of them would be refused`;
    const hint =
      'let a proxy that checks the sender sign them as `generic-v2`, or use INSECURE_NO_AUTH on a loopback host';
    return [{ rule: 'unsigned-source', path: ['source'], at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
