/** A public key where a shared secret is expected. */

import { isAsymmetric } from '../views/view-route.ts';
import { rule } from './support/rule.ts';

export const publicKeyScheme = rule('public-key-scheme', {
  route(route, report) {
    if (route.config.public_key === undefined || route.schemes.every(isAsymmetric)) return;
    const shared = route.schemes.find((scheme) => !isAsymmetric(scheme))?.name ?? '';
    const message = `\`public_key\` needs a source with an asymmetric signature, and this route accepts \`${shared}\``;
    const hint = 'name the sender in `source`, or use `secret`';
    report({ path: ['public_key'], at: 'key', message, hint });
  },
});
