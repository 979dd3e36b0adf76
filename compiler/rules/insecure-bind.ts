/** Disabled signature checks on an address that others can reach (§5.3). */
import { isLoopback } from '../../base/listen-address.ts';
import { isInsecure } from '../views/view-route.ts';
import { rule } from './support/rule.ts';

export const insecureBind = rule('insecure-bind', {
  route(route, report) {
    const { host } = route.scope.table.server;
    if (!route.insecure || isLoopback(host)) return;
    const written = route.secrets.find(({ ref, path }) => path !== null && isInsecure(ref, route.scope.facts));
    const shown = host === '' ? 'every address (the host is empty)' : `\`${host}\``;
    const message = `route \`${route.name}\` is not authenticated and the server would listen on ${shown}`;
    const hint = 'give the route a real secret, or bind 127.0.0.1';
    report({ path: written?.path ?? [], at: written === undefined ? 'key' : 'value', message, hint });
  },
});
