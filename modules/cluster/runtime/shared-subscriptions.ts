/**
 * The subscriptions that gateways share: stored in the database with their secrets encrypted (AES-256-GCM), and copied
 * to a file by each gateway.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { messageOf } from '../../../base/errors.ts';
import { readJson, writeJson } from '../../../base/exact-number.ts';
import { tryParseJson } from '../../../base/files.ts';
import { isSealed, SEALED_PREFIX } from '../../../base/secret-forms.ts';
import type { Clock, Timer } from '../../../runtime/platform/clock.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import { isRecord } from '../../../runtime/store/decode.ts';
import type { SharedDocuments } from '../../../runtime/store/shared.ts';
import type { RefusedRows } from './refused-rows.ts';

/*
 * The subscriptions that gateways share are stored in the database. Each gateway has a copy in the file of its home: it
 * loads changes of the copy like any change of that file, and uses it while the database is unavailable. Commands write
 * both under the lock of the file, so that the copy never reverts to an older version.
 */

/** How often the version is polled, in ms. */
const POLL_MS = 500;

export interface CopyParts {
  readonly documents: SharedDocuments;
  /** Path of the copy. */
  readonly path: string;
  readonly seal: Seal | null;
  /** Waits for the lock of the file. */
  readonly lock: () => Promise<{ release(): void }>;
}

type Pulled = Omit<OpenedSubscriptions, 'text'> & { readonly version: number };

/**
 * Updates the copy. While the database has no subscriptions, the home's file stays, and becomes the first version with
 * the next change. Rejects with StoreUnavailable, InvalidSubscriptions, or the error of writing the file.
 * @param isGateway false for a command, which must not replace secrets that the gateway could decrypt with encrypted
 * ones
 */
export async function pullSubscriptions(
  { documents, path, seal, lock }: CopyParts,
  isGateway: boolean,
): Promise<Pulled> {
  const held = await lock();
  try {
    const { version, text } = await documents.read(SUBSCRIPTIONS);
    if (version === 0) return { version, sealed: new Set(), problem: null };
    const { text: opened, sealed, problem } = openSubscriptions(text, seal);
    const copy = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const isKept = copy !== null && sealed.size > 0 && !isGateway;
    if (copy !== opened && !isKept) writeAtomic(path, opened, 0o600);
    return { version, sealed, problem };
  } finally {
    held.release();
  }
}

interface SubscriptionsContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly refused: RefusedRows;
}

export class SharedSubscriptions {
  private readonly parts: CopyParts;
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly refused: RefusedRows;
  /** Null until the subscriptions have been read. */
  private pulled: Pulled | null = null;
  private loggedReason: string | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(parts: CopyParts, { clock, log, refused }: SubscriptionsContext) {
    this.parts = parts;
    this.clock = clock;
    this.log = log;
    this.refused = refused;
  }

  /** Updates the copy, and keeps it up to date. Resolves after the first try. Never rejects. */
  async start(): Promise<void> {
    await this.poll();
    if (!this.isStopped) this.timer = this.clock.after(POLL_MS, () => void this.start());
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /**
   * True if other gateways may serve the path although this one does not: it has not read the subscriptions yet, or
   * cannot decrypt a secret of this one.
   */
  isPending(path: string): boolean {
    return this.pulled === null || this.pulled.sealed.has(path.slice(path.lastIndexOf('/') + 1));
  }

  private async poll(): Promise<void> {
    try {
      const found = await this.parts.documents.version(SUBSCRIPTIONS);
      if (found !== this.pulled?.version) {
        this.pulled = await pullSubscriptions(this.parts, true);
        this.refused.note('subscriptions', this.pulled.problem);
      }
      this.loggedReason = null;
    } catch (error) {
      const reason = messageOf(error).replaceAll('\n', '; ');
      if (error instanceof InvalidSubscriptions) this.refused.note('subscriptions', reason);
      if (reason !== this.loggedReason)
        this.log.warn({ reason }, 'cannot read the shared subscriptions; keeping the previous ones');
      this.loggedReason = reason;
    }
  }
}

/*
 * Subscriptions as a shared database stores them: the text of the file, with literal secrets encrypted. References
 * (`env:SOME_SECRET`, `file:path`) stay and are resolved on each gateway's own machine. hookwright never writes a secret in
 * plain text, so a subscription with one is not used. The compiler checks the rest of each, as of any subscription.
 */

/** Name of the document in the database. */
export const SUBSCRIPTIONS = 'subscriptions';

/** Returns the replacement for a secret. @param name the subscription that it belongs to */
type Replace = (secret: string, name: string) => string;

/** Encrypts the secrets. @param seal null: no key is set @throws StoreRefused naming the subscription that needs one */
export function sealSubscriptions(text: string, seal: Seal | null): string {
  return replaceSecrets(text, (secret, name) => {
    // A secret that another key has encrypted stays unchanged.
    if (isReference(secret) || isSealed(secret)) return secret;
    if (seal !== null) return seal.seal(secret, name);
    throw new StoreRefused(
      `the secret of subscription "${name}" is not a reference to a variable that is named as a secret, and no key is set to encrypt it`,
    );
  });
}

/** The stored text is not a map of subscriptions. */
export class InvalidSubscriptions extends StoreRefused {}

interface OpenedSubscriptions {
  readonly text: string;
  /** Names of subscriptions with a secret that cannot be decrypted here; it stays encrypted in the text. */
  readonly sealed: ReadonlySet<string>;
  /** Why subscriptions were left out of the text; null: none was left out. */
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
  const problem = `subscriptions in the database have a secret that is neither encrypted nor in a variable that is named as one, and are not served: ${names}; replace each: hookwright webhook subscribe`;
  return { text: print(entries), sealed, problem };
}

/**
 * A reference that needs no encryption. Who writes to the database must not choose a variable with a known value, such as HOME: the
 * name of a variable must be that of a secret. The compiler checks files.
 */
const isReference = (secret: string): boolean =>
  /^file:|^env:\w*(?:secret|token|passw|key|hmac|credential)/i.test(secret) || secret === 'INSECURE_NO_AUTH';

/** If nothing is replaced, the text is returned unchanged, byte for byte. */
function replaceSecrets(text: string, replace: Replace): string {
  let isChanged = false;
  const entries = entriesOf(text).map(([name, entry]) => {
    const one = (value: unknown): unknown => {
      if (typeof value === 'string') {
        const next = replace(value, name);
        isChanged ||= next !== value;
        return next;
      }
      return isRecord(value) && 'value' in value ? { ...value, value: one(value.value) } : value;
    };
    if (!isRecord(entry)) return [name, entry] as const;
    const fields = Object.entries(entry).map(([key, value]) => {
      if (key === 'secret' || key === 'verify_token') return [key, one(value)] as const;
      return [key, key === 'secrets' && Array.isArray(value) ? value.map(one) : value] as const;
    });
    return [name, Object.fromEntries(fields)] as const;
  });
  return isChanged ? print(entries) : text;
}

function entriesOf(text: string): readonly (readonly [name: string, entry: unknown])[] {
  const found = tryParseJson(text, readJson);
  if (isRecord(found)) return Object.entries(found);
  throw new InvalidSubscriptions(
    'the subscriptions in the database are not a JSON object\nto repair them, change one on a machine whose gateway still serves them: hookwright webhook subscribe <name>',
  );
}

const print = (entries: readonly (readonly [string, unknown])[]): string =>
  `${writeJson(Object.fromEntries(entries), 2)}\n`;

/*
 * Encrypts secrets that leave this machine, with AES-256-GCM: a random 96-bit nonce and a 128-bit tag (NIST SP
 * 800-38D). The key is derived from a text with HKDF-SHA-256 (RFC 5869), which does not strengthen a guessable text, so
 * the text must be long.
 */

const [NONCE_BYTES, TAG_BYTES, KEY_BYTES] = [12, 16, 32];
/** Minimum length, in characters, of the text from which a key is derived. */
const SHORTEST_KEY_TEXT = 32;

interface Seal {
  /** Encrypts. @param place the owner of the secret; it cannot be decrypted for another one */
  seal(secret: string, place: string): string;
  /** Decrypts. @throws Error when the secret was sealed with another key, or for another place */
  open(sealed: string, place: string): string;
}

/** @throws Error when the text is too short */
export function createSeal(keyText: string): Seal {
  if (keyText.length < SHORTEST_KEY_TEXT)
    throw new Error(
      `gateway.store.key has fewer than ${SHORTEST_KEY_TEXT} characters; create one: openssl rand -hex 32`,
    );
  const key = Buffer.from(hkdfSync('sha256', keyText, '', 'hookwright gateway.store.key', KEY_BYTES));
  return {
    seal(secret, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place, 'utf8'));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return SEALED_PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(SEALED_PREFIX.length), 'base64');
      const [nonce, rest] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)];
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(place, 'utf8')).setAuthTag(rest.subarray(0, TAG_BYTES));
        return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        throw new Error('the secret was encrypted with a different gateway.store.key');
      }
    },
  };
}
