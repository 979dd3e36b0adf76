/** A handshake that cannot be answered. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingVerifyToken = {
  id: 'missing-verify-token',
  group: 'senders',
  severity: 'warning',
  title: "The route's source checks the URL with a token, and the route has no `verify_token`.",
  why: 'The handshake is refused and the sender does not accept the URL. The token is a word of your own, entered at the sender too; the signing secret must not be used for it, since it travels in a URL.',
  checkRoute({ config, schemes }): readonly Problem[] {
    if (config.source === undefined || config.verify_token !== undefined) return [];
    if (!schemes.some(({ challenges }) => challenges.some(({ token }) => token !== null))) return [];
    const message = `\`${config.source}\` checks the URL with a token: set \`verify_token\` to the one entered there`;
    return [{ rule: missingVerifyToken, path: ['source'], at: 'value', message }];
  },
} as const satisfies ViewRule;
