/** A handshake without its token. */

import { rule } from './support/rule.ts';

export const missingVerifyToken = rule('missing-verify-token', {
  route({ config, schemes }, report) {
    if (config.source === undefined || config.verify_token !== undefined) return;
    if (!schemes.some(({ challenges }) => challenges.some(({ token }) => token !== null))) return;
    const message = `\`${config.source}\` checks the URL with a token: set \`verify_token\` to the one entered there`;
    report({ path: ['source'], at: 'value', message });
  },
});
