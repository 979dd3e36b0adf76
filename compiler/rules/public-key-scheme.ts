/** A public key where a shared secret is expected. */

import type { Problem } from '../diagnostics/problem.ts';
import { isAsymmetric } from '../views/route-scope.ts';
import type { ViewRule } from './support/view-rule.ts';

export const publicKeyScheme = {
  id: 'public-key-scheme',
  group: 'secrets',
  severity: 'error',
  title: '`public_key` is set on a route whose schemes sign with a shared secret.',
  why: 'A public key is not secret. If it were used as a shared secret, anyone could sign requests.',
  checkRoute(route): readonly Problem[] {
    if (route.config.public_key === undefined || route.schemes.every(isAsymmetric)) return [];
    const shared = route.schemes.find((scheme) => !isAsymmetric(scheme))?.name ?? '';
    const message = `\`public_key\` needs a source with an asymmetric signature, and this route accepts \`${shared}\``;
    const hint = 'name the sender in `source`, or use `secret`';
    return [{ rule: publicKeyScheme, path: ['public_key'], at: 'key', message, hint }];
  },
} as const satisfies ViewRule;
