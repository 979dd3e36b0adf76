/** A handshake without its token. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingVerifyToken = {
  id: 'missing-verify-token',
  checkRoute({ config, schemes }): readonly Problem[] {
    if (config.source === undefined || config.verify_token !== undefined) return [];
    if (!schemes.some(({ challenges }) => challenges.some(({ token }) => token !== null))) return [];
    const message = `\`${config.source}\` checks the URL with a token: set \`verify_token\` to the one entered there`;
    return [{ rule: 'missing-verify-token', path: ['source'], at: 'value', message }];
  },
} as const satisfies ViewRule;
