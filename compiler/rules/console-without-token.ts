/** A console without a token that other machines can reach, or that has none that viewers do not have. */
import { isLoopback } from '../../base/listen-address.ts';
import { rule } from './support/rule.ts';

const ALONE = {
  message: 'the console would be open to every program of this machine, which needs no `viewer_token`',
  hint: 'add `token: env:CONSOLE_TOKEN`',
};
const SAME = {
  message: 'it is `token` itself, whose holder may change everything',
  hint: 'give viewers a token of their own',
};

export const consoleWithoutToken = rule('console-without-token', {
  config({ config }, report) {
    const { host, token, viewer_token } = config.gateway?.console ?? {};
    if (viewer_token !== undefined && (token === undefined || viewer_token === token))
      report({ path: ['gateway', 'console', 'viewer_token'], at: 'value', ...(token === undefined ? ALONE : SAME) });
    if (host === undefined || token !== undefined || isLoopback(host)) return;
    const message = `the console would be open to anyone who can reach \`${host}\``;
    const hint = 'add `token: env:CONSOLE_TOKEN`, which Prometheus sends as `authorization`, or bind 127.0.0.1';
    report({ path: ['gateway', 'console', 'host'], at: 'value', message, hint });
  },
});
