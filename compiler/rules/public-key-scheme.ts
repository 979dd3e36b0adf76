/** A public key where a shared secret is expected. */

import type { Problem } from '../diagnostics/problem.ts';
import { isAsymmetric } from '../views/route-scope.ts';
import type { ViewRule } from './support/view-rule.ts';

export const publicKeyScheme = {
  id: 'public-key-scheme',
  checkRoute(route): readonly Problem[] {
    if (route.config.public_key === undefined || route.schemes.every(isAsymmetric)) return [];
    const shared = route.schemes.find((scheme) => !isAsymmetric(scheme))?.name ?? '';
    const message = `\`public_key\` needs a source with an asymmetric signature, and this route accepts \`${shared}\``;
    const hint = 'name the sender in `source`, or use `secret`';
    return [{ rule: 'public-key-scheme', path: ['public_key'], at: 'key', message, hint }];
  },
} as const satisfies ViewRule;
