/** A console without a token that other machines can reach. */
import { isLoopback } from '../../base/loopback.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const consoleWithoutToken = {
  id: 'console-without-token',
  group: 'config',
  severity: 'error',
  title: '`gateway.console` listens beyond the loopback interface and has no `token`.',
  why: 'Anyone who can reach the port could read the names of routes, profiles and targets, and event rates.',
  checkConfig({ config }): readonly Problem[] {
    const { host, token } = config.gateway?.console ?? {};
    if (host === undefined || token !== undefined || isLoopback(host)) return [];
    const message = `the console would be open to anyone who can reach \`${host}\``;
    const hint = 'add `token: env:CONSOLE_TOKEN`, which Prometheus sends as `authorization`, or bind 127.0.0.1';
    return [{ rule: consoleWithoutToken, path: ['gateway', 'console', 'host'], at: 'value', message, hint }];
  },
} as const satisfies ViewRule;
