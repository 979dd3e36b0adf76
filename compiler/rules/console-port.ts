/** A console on the address of the webhook server. */
import { isWildcard } from '../../base/listen-address.ts';
import { rule } from './support/rule.ts';

export const consolePort = rule('console-port', {
  config({ config, server, scope }, report) {
    const { console } = scope.table.gateway;
    if (console === null || console.port === 0 || console.port !== server.port) return;
    if (!overlap(console.host, server.host)) return;
    const path = ['gateway', 'console', ...(config.gateway?.console?.port === undefined ? [] : ['port'])];
    const message = `the webhook server listens on port ${server.port} already, which senders reach`;
    report({ path, at: 'value', message, hint: 'give the console a port of its own' });
  },
});

/** One program cannot listen on one port of both. `0.0.0.0` has no address of IPv6. */
const overlap = (one: string, other: string): boolean =>
  one === other || [[one, other] as const, [other, one] as const].some(([all, each]) => covers(all, each));

const covers = (all: string, each: string): boolean => isWildcard(all) && (all !== '0.0.0.0' || !/^[^.]*:/.test(each));
