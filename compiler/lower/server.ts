/** Lowers the server's settings. Flags and environment override `extra`, which overrides the keys next to it (§2.4). */
import type { Config, SecretRef, ServerPlan } from '../../schemas/generated/types.ts';
import { parseNetwork } from '../config/network.ts';
import type { Overrides } from '../config/overrides.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import { parseSecretRef } from '../text/secret-ref.ts';

export const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8644;
const MAX_BODY_BYTES = 1_048_576;

export function lowerServer(config: Config, settings: EffectiveSettings, overrides: Overrides): ServerPlan {
  const { values } = settings;
  return {
    enabled: overrides.enabled ?? config.platforms?.webhook?.enabled ?? false,
    host: overrides.host ?? values.host ?? DEFAULT_HOST,
    port: overrides.port ?? values.port ?? DEFAULT_PORT,
    public_url: config.public_url ?? null,
    secret: globalSecret(values.secret, overrides),
    max_body_bytes: values.max_body_bytes ?? MAX_BODY_BYTES,
    rate_limit: values.rate_limit ?? 30,
    max_connections: values.max_connections ?? 1024,
    max_connections_per_address: values.max_connections_per_address ?? 256,
    trusted_proxies: (values.trusted_proxies ?? []).flatMap((text) => parseNetwork(text) ?? []),
    max_unverified_bytes: Math.max(values.max_unverified_bytes ?? 67_108_864, values.max_body_bytes ?? MAX_BODY_BYTES),
    min_body_rate: values.min_body_rate ?? 512,
    script_timeout_seconds: values.script_timeout_seconds ?? 30,
    direct_timeout_seconds: values.direct_timeout_seconds ?? 10,
    idempotency_ttl_seconds: values.idempotency_ttl_seconds ?? 3600,
  };
}

/** WEBHOOK_SECRET becomes a reference, so that its value is never in the table. */
function globalSecret(written: string | undefined, overrides: Overrides): SecretRef | null {
  if (overrides.secret) return { kind: 'env', value: 'WEBHOOK_SECRET', scope: 'default' };
  return written === undefined ? null : parseSecretRef(written, 'default');
}
