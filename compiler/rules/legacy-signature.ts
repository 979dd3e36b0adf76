/** A deprecated signature scheme (§9.1). */

import { rule } from './support/rule.ts';

export const legacySignature = rule('legacy-signature', {
  route(route, report) {
    const [first] = route.schemes;
    if (route.insecure || first === undefined || route.schemes.some(({ deprecated }) => deprecated === null)) return;
    const path = route.config.source === undefined ? ['auth'] : ['source'];
    const message = `the route accepts only \`${first.name}\`: ${first.deprecated}`;
    report({ path, at: 'value', message });
  },
});
