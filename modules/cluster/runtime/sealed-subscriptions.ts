/**
 * Subscriptions as they are stored in a shared database: the text of the file, with literal secrets encrypted.
 * References (`env:NAME`, `file:path`) are kept and are resolved on each gateway's own machine.
 */
import { isSealed } from '../../../base/sealed-text.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';
import type { Seal } from './seal.ts';

/** Name of the document in the database. */
export const SUBSCRIPTIONS = 'subscriptions';

/** Returns the replacement for a secret. @param name the subscription that it belongs to */
type Replace = (secret: string, name: string) => string;

/** Encrypts the secrets. @param seal null: no key is set @throws StoreRefused naming the subscription that needs one */
export function sealSubscriptions(text: string, seal: Seal | null): string {
  return replaceSecrets(text, (secret, name) => {
    // A secret that another key has encrypted is kept.
    if (isReference(secret) || isSealed(secret)) return secret;
    if (seal !== null) return seal.seal(secret, name);
    throw new StoreRefused(
      `the secret of subscription "${name}" stands in the subscription itself, and there is no key to encrypt it with`,
    );
  });
}

export interface OpenedSubscriptions {
  readonly text: string;
  /** Names of subscriptions with a secret that cannot be decrypted here; it is left encrypted in the text. */
  readonly sealed: ReadonlySet<string>;
}

/** Decrypts the secrets. @param seal null: no key is set */
export function openSubscriptions(text: string, seal: Seal | null): OpenedSubscriptions {
  const sealed = new Set<string>();
  const opened = replaceSecrets(text, (secret, name) => {
    if (!isSealed(secret)) return secret;
    try {
      if (seal !== null) return seal.open(secret, name);
    } catch {
      // Encrypted with another key.
    }
    sealed.add(name);
    return secret;
  });
  return { text: opened, sealed };
}

const isReference = (secret: string): boolean => /^(?:env|file):/.test(secret) || secret === 'INSECURE_NO_AUTH';

/** A text in which nothing is replaced is returned unchanged, byte for byte. */
function replaceSecrets(text: string, replace: Replace): string {
  let isChanged = false;
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>).map(([name, entry]) => {
    const one = (value: unknown): unknown => {
      if (typeof value === 'string') {
        const next = replace(value, name);
        isChanged ||= next !== value;
        return next;
      }
      return isMap(value) && 'value' in value ? { ...value, value: one(value.value) } : value;
    };
    if (!isMap(entry)) return [name, entry] as const;
    const fields = Object.entries(entry).map(([key, value]) => {
      if (key === 'secret' || key === 'verify_token') return [key, one(value)] as const;
      return [key, key === 'secrets' && Array.isArray(value) ? value.map(one) : value] as const;
    });
    return [name, Object.fromEntries(fields)] as const;
  });
  return isChanged ? `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n` : text;
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
