/** Lists the secrets under `gateway:`. */
import type { GatewayConfig } from '../../schemas/generated/types.ts';

export interface GatewaySecret {
  readonly path: readonly string[];
  readonly text: string;
  /** A `url` may contain a password; minimum lengths do not apply to it. */
  readonly kind: 'url' | 'key';
}

/** Returns the path and the written text of each secret. */
export function gatewaySecrets(config: GatewayConfig | undefined): readonly GatewaySecret[] {
  const { store, console, heartbeat } = config ?? {};
  const { postgres, key } = typeof store === 'object' ? store : {};
  return [
    { path: ['gateway', 'store', 'postgres'], text: postgres, kind: 'url' as const },
    { path: ['gateway', 'store', 'key'], text: key, kind: 'key' as const },
    { path: ['gateway', 'console', 'token'], text: console?.token, kind: 'key' as const },
    { path: ['gateway', 'console', 'viewer_token'], text: console?.viewer_token, kind: 'key' as const },
    { path: ['gateway', 'heartbeat', 'url'], text: heartbeat?.url, kind: 'url' as const },
  ].flatMap(({ text, ...secret }) => (text === undefined ? [] : [{ ...secret, text }]));
}
