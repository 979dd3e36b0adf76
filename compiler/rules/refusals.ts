/** Rules about combinations that prevent the gateway from starting. */

import { isLoopback } from '../../base/net.ts';
import { isAsymmetric, isInsecure } from '../views/view-route.ts';
import { deliverPath, STORING_TARGETS } from './support/receivers.ts';
import { rule } from './support/rule.ts';

const MODE_KEYS = { message: 'agent', direct: 'deliver_only', cron: 'cron_job' } as const;

/** Coalescing on a route that runs no agent (§7). */
export const coalesceMode = rule('coalesce-mode', {
  route(route, report) {
    if (route.config.coalesce === undefined || route.mode === 'agent') return;
    const other = MODE_KEYS[route.mode];
    const related = [{ path: [other], message: 'the mode is set here' }];
    const message = `\`coalesce\` works on agent routes only, not together with \`${other === 'agent' ? 'agent: none' : other}\``;
    report({ path: ['coalesce'], at: 'key', message, related });
  },
});

/** A direct route without a target (§7). */
export const deliverOnlyTarget = rule('deliver-only-target', {
  route(route, report) {
    if (route.config.deliver_only !== true) return;
    const hint = 'name a real target in `deliver`, or remove `deliver_only` to run the agent';
    if (route.config.deliver === undefined) {
      const message = `route \`${route.name}\` is \`deliver_only\` and has no \`deliver\``;
      report({ path: [], at: 'key', message, hint });
      return;
    }
    for (const { name, index, target } of route.targets) {
      if (target === null || !STORING_TARGETS.has(target)) continue;
      const message = `\`deliver_only\` cannot deliver to \`${name}\`: no one would receive the message`;
      report({ path: deliverPath(index), at: 'value', message, hint });
    }
  },
});

/** A route with two modes (§7). */
export const deliverOnlyWithCronJob = rule('deliver-only-with-cron-job', {
  route(route, report) {
    const { deliver_only, cron_job } = route.config;
    if (deliver_only !== true || cron_job === undefined) return;
    const related = [{ path: ['cron_job'], message: 'the job is named here' }];
    const message = '`deliver_only` and `cron_job` exclude each other; keep one of them';
    report({ path: ['deliver_only'], at: 'key', message, related });
  },
});

/** Disabled signature checks on an address that others can reach (§5.3). */
export const insecureBind = rule('insecure-bind', {
  route(route, report) {
    const { host, public_url, trusted_proxies } = route.scope.table.server;
    const isOpen = !isLoopback(host);
    const forwards = (route.config.public_url ?? public_url) !== null || trusted_proxies.length > 0;
    if (!route.insecure || !(isOpen || forwards)) return;
    const written = route.secrets.find(({ ref, path }) => path !== null && isInsecure(ref, route.scope.facts));
    const shown = host === '' ? 'every address (the host is empty)' : `\`${host}\``;
    const message = `route \`${route.name}\` is not authenticated and ${isOpen ? `the server would listen on ${shown}` : '`public_url` or `trusted_proxies` means that a proxy sends it requests of others'}`;
    const hint = `give the route a secret, or ${isOpen ? 'bind 127.0.0.1' : 'remove the setting'}`;
    report({ path: written?.path ?? [], at: written === undefined ? 'key' : 'value', message, hint });
  },
});

/** A route without a secret (§5.2). */
export const routeWithoutSecret = rule('route-without-secret', {
  route(route, report) {
    if (route.secrets.length > 0 || route.scope.invalidNames.has('setting:secret')) return;
    if (route.schemes.length > 0 && route.schemes.every(isAsymmetric)) {
      const message = `route \`${route.name}\` has no \`public_key\`, but its source signs with a private key`;
      report({ path: [], at: 'key', message, hint: 'set `public_key` to the key the sender publishes' });
      return;
    }
    const hint = 'set `secret: env:NAME` on the route, or under `platforms.webhook` for all routes';
    const message = `route \`${route.name}\` has no secret, neither its own nor a global one`;
    report({ path: [], at: 'key', message, hint });
  },
});
