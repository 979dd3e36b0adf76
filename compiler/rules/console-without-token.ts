/** A console without a token that other machines can reach. */
import { isLoopback } from '../../base/loopback.ts';
import { rule } from './support/rule.ts';

export const consoleWithoutToken = rule('console-without-token', {
  config({ config }, report) {
    const { host, token } = config.gateway?.console ?? {};
    if (host === undefined || token !== undefined || isLoopback(host)) return;
    const message = `the console would be open to anyone who can reach \`${host}\``;
    const hint = 'add `token: env:CONSOLE_TOKEN`, which Prometheus sends as `authorization`, or bind 127.0.0.1';
    report({ path: ['gateway', 'console', 'host'], at: 'value', message, hint });
  },
});
