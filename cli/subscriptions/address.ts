/** Where a route receives its events, as a URL and as a curl command line. */
import { listenUrl } from '../../base/listen-address.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
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
  return reachable(url ?? listenUrl(table.server.host, table.server.port));
}

/** A wildcard address is reached by loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:').replace('//:', '//127.0.0.1:');
}

const SCHEME = 'generic-v2';

/** Null for a route that does not accept the generic scheme: `webhook test` signs for it. */
export function curlLine({ schemes, events }: RoutePlan, url: string, secret: string): string | null {
  if (!schemes.includes(SCHEME)) return null;
  const body = JSON.stringify({ event_type: events?.exact[0] ?? 'test' });
  return [
    `t=$(date +%s); b=${quote(body)};`,
    `curl -d "$b" -H 'Content-Type: application/json' -H "X-Webhook-Timestamp: $t"`,
    `-H "X-Webhook-Signature-V2: $(printf '%s.%s' "$t" "$b" | openssl dgst -sha256 -hmac ${quote(secret)} | sed 's/.* //')"`,
    quote(url),
  ].join(' ');
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
