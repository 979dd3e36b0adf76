/** A signature over an unknown URL. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingPublicUrl = {
  id: 'missing-public-url',
  checkRoute(route): readonly Problem[] {
    if (route.insecure || route.config.public_url !== undefined || route.scope.table.server.public_url !== null)
      return [];
    const scheme = route.schemes.find(({ signed }) => signed.some(({ kind }) => kind === 'url'));
    if (scheme === undefined || route.config.source === undefined) return [];
    const message = `\`${route.config.source}\` signs the URL; set \`public_url\` to the URL that the sender uses`;
    return [{ rule: 'missing-public-url', path: ['source'], at: 'value', message }];
  },
} as const satisfies ViewRule;
