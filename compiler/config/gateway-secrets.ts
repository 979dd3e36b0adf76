/** The secrets of `gateway:`. */
import type { GatewayConfig } from '../../schemas/generated/types.ts';

export interface GatewaySecret {
  readonly path: readonly string[];
  readonly text: string;
  /** `url`: holds a password, or none; it has no length that makes it safe. */
  readonly kind: 'url' | 'key';
}

/** Where they stand, and what is written there. */
export function gatewaySecrets(config: GatewayConfig | undefined): readonly GatewaySecret[] {
  const { store, console } = config ?? {};
  const { postgres, key } = typeof store === 'object' ? store : {};
  return [
    { path: ['gateway', 'store', 'postgres'], text: postgres, kind: 'url' as const },
    { path: ['gateway', 'store', 'key'], text: key, kind: 'key' as const },
    { path: ['gateway', 'console', 'token'], text: console?.token, kind: 'key' as const },
  ].flatMap(({ text, ...secret }) => (text === undefined ? [] : [{ ...secret, text }]));
}
