/** A signature over an unknown URL. */

import { rule } from './support/rule.ts';

export const missingPublicUrl = rule('missing-public-url', {
  route(route, report) {
    if (route.insecure || route.config.public_url !== undefined || route.scope.table.server.public_url !== null) return;
    const scheme = route.schemes.find(({ signed }) => signed.some(({ kind }) => kind === 'url'));
    if (scheme === undefined || route.config.source === undefined) return;
    const message = `\`${route.config.source}\` signs the URL; set \`public_url\` to the URL that the sender uses`;
    report({ path: ['source'], at: 'value', message });
  },
});
