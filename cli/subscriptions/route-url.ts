/** Where a route receives its events. */
import type { RoutePlan, ServerPlan } from '../../schemas/generated/types.ts';
import type { OpenTable } from './open-table.ts';

type RouteAddress = Pick<RoutePlan, 'name' | 'profile'>;

export function routePath({ name, profile }: RouteAddress): string {
  return profile === 'default' ? `/webhooks/${name}` : `/p/${profile}/webhooks/${name}`;
}

/** The URL for the sender; below `public_url` if that is set. */
export function publicRouteUrl(route: RouteAddress, open: Pick<OpenTable, 'table' | 'url'>): string {
  const base = open.table.server.public_url ?? localBase(open);
  return base.replace(/\/+$/, '') + routePath(route);
}

/** The server as this machine reaches it. */
export function localBase({ table, url }: Pick<OpenTable, 'table' | 'url'>): string {
  return url === null ? baseOf(table.server) : reachable(url);
}

function baseOf({ host, port }: ServerPlan): string {
  return reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** A wildcard address is reached by loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:').replace('//:', '//127.0.0.1:');
}
