/** A source without signatures. */

import { rule } from './support/rule.ts';

export const unsignedSource = rule('unsigned-source', {
  route(route, report) {
    const { source } = route.config;
    if (route.insecure || source === undefined || route.schemes.length === 0) return;
    if (!route.schemes.every(({ verify }) => verify === 'none')) return;
    const message = `\`${source}\` does not sign its requests: every one of them would be refused`;
    const hint =
      'let a proxy that checks the sender sign them as `generic-v2`, or use INSECURE_NO_AUTH on a loopback host';
    report({ path: ['source'], at: 'value', message, hint });
  },
});
