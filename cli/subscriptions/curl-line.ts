/** A command line for any terminal that sends a signed event with only curl and openssl. */
import type { RoutePlan } from '../../schemas/generated/types.ts';

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
