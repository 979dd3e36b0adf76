/** Rules about the console: its address, and the tokens that keep strangers out and people apart. */
import { isLoopback, isWildcard } from '../../../../base/net.ts';
import { gatewaySecrets } from '../../../../compiler/config/agents.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';

/** A console on the address of the webhook server. */
export const consolePort = rule('console-port', {
  config({ config, server, scope }, report) {
    const { console } = scope.table.gateway;
    if (console === null || console.port === 0 || console.port !== server.port) return;
    if (!overlap(console.host, server.host)) return;
    const path = ['gateway', 'console', ...(config.gateway?.console?.port === undefined ? [] : ['port'])];
    const message = `the webhook server, which senders reach, already listens on port ${server.port}`;
    report({ path, at: 'value', message, hint: 'give the console another port' });
  },
});

/** Whether two servers conflict on one port. `0.0.0.0` does not include IPv6. */
const overlap = (one: string, other: string): boolean =>
  one === other || [[one, other] as const, [other, one] as const].some(([all, each]) => covers(all, each));

const covers = (all: string, each: string): boolean => isWildcard(all) && (all !== '0.0.0.0' || !/^[^.]*:/.test(each));

const NO_TOKEN = {
  message: 'without `token`, every program of this machine can use the console, and `viewer_token` has no effect',
  hint: 'add `token: env:CONSOLE_TOKEN`',
};

/** A console without a token that other machines can reach, or with a token that two people or roles share. */
export const consoleWithoutToken = rule('console-without-token', {
  config({ config }, report) {
    const { host, viewer_token } = config.gateway?.console ?? {};
    const tokens = gatewaySecrets(config.gateway).filter(({ path }) => path[1] === 'console');
    const isOpen = tokens.every(({ path }) => path[2] === 'viewer_token');
    if (viewer_token !== undefined && isOpen)
      report({ path: ['gateway', 'console', 'viewer_token'], at: 'value', ...NO_TOKEN });
    for (const [at, { path, text }] of tokens.entries()) {
      const same = tokens.slice(0, at).find((earlier) => earlier.text === text);
      const hint = 'give each person and each role another token';
      if (same === undefined) continue;
      const message = `\`${nameIn(path)}\` equals \`${nameIn(same.path)}\`, so that the record cannot tell them apart`;
      report({ path, at: 'value', message, hint, related: [{ path: same.path, message: 'the other one' }] });
    }
    if (host === undefined || !isOpen || isLoopback(host)) return;
    const message = `the console would be open to anyone who can reach \`${host}\``;
    const hint = 'add `token: env:CONSOLE_TOKEN`, which Prometheus sends as `authorization`, or bind 127.0.0.1';
    report({ path: ['gateway', 'console', 'host'], at: 'value', message, hint });
  },
});

const nameIn = (path: readonly string[]): string => path.slice(2).join('.');
