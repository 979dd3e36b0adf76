/** A handshake without its token. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingVerifyToken = {
  id: 'missing-verify-token',
  group: 'senders',
  severity: 'warning',
  title: "The route's source checks the URL with a token, and the route has no `verify_token`.",
  why: 'The handshake fails, and the sender does not accept the URL. Choose a token and enter it at the sender, too; do not use the signing secret, because the token is sent in a URL.',
  checkRoute({ config, schemes }): readonly Problem[] {
    if (config.source === undefined || config.verify_token !== undefined) return [];
    if (!schemes.some(({ challenges }) => challenges.some(({ token }) => token !== null))) return [];
    const message = `\`${config.source}\` checks the URL with a token: set \`verify_token\` to the one entered there`;
    return [{ rule: missingVerifyToken, path: ['source'], at: 'value', message }];
  },
} as const satisfies ViewRule;
