/**
 * Subscriptions as they are stored in a shared database: the text of the file, with literal secrets encrypted.
 * References (`env:NAME`, `file:path`) are kept and are resolved on each gateway's own machine. A secret in plain text was
 * not written by hookwright, so its subscription is not used. The compiler checks the rest of each, as of any subscription.
 */
import { isSealed } from '../../../base/sealed-text.ts';
import { tryParseJson } from '../../../base/try-parse-json.ts';
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

/** What is stored is not a map of subscriptions. */
export class InvalidSubscriptions extends StoreRefused {}

export interface OpenedSubscriptions {
  readonly text: string;
  /** Names of subscriptions with a secret that cannot be decrypted here; it is left encrypted in the text. */
  readonly sealed: ReadonlySet<string>;
  /** Why subscriptions were left out of the text; null: none was. */
  readonly problem: string | null;
}

/** Decrypts the secrets. @param seal null: no key is set @throws InvalidSubscriptions */
export function openSubscriptions(text: string, seal: Seal | null): OpenedSubscriptions {
  const [sealed, plain] = [new Set<string>(), new Set<string>()];
  const opened = replaceSecrets(text, (secret, name) => {
    if (isReference(secret)) return secret;
    if (!isSealed(secret)) {
      plain.add(name);
      return secret;
    }
    try {
      if (seal !== null) return seal.open(secret, name);
    } catch {
      // Encrypted with another key.
    }
    sealed.add(name);
    return secret;
  });
  if (plain.size === 0) return { text: opened, sealed, problem: null };
  const entries = entriesOf(opened).filter(([name]) => !plain.has(name));
  const names = [...plain].map((name) => JSON.stringify(name)).join(', ');
  const problem = `subscriptions in the database have a secret in plain text and are not served: ${names}; replace each: hookwright webhook subscribe`;
  return { text: print(entries), sealed, problem };
}

const isReference = (secret: string): boolean => /^(?:env|file):/.test(secret) || secret === 'INSECURE_NO_AUTH';

/** A text in which nothing is replaced is returned unchanged, byte for byte. */
function replaceSecrets(text: string, replace: Replace): string {
  let isChanged = false;
  const entries = entriesOf(text).map(([name, entry]) => {
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
  return isChanged ? print(entries) : text;
}

function entriesOf(text: string): readonly (readonly [name: string, entry: unknown])[] {
  const found = tryParseJson(text);
  if (isMap(found)) return Object.entries(found);
  throw new InvalidSubscriptions(
    'the subscriptions in the database are not a JSON object\nchange one on a machine whose gateway still serves them: hookwright webhook subscribe <name>',
  );
}

const print = (entries: readonly (readonly [string, unknown])[]): string =>
  `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
