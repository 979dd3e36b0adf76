/**
 * Signatures of the documents that travel through the database, so that gateways do not run what somebody else has written
 * there. A signed document is
 *
 *     signed:v1:<hmac|ed25519>:<version>:<signature in hex>
 *     <text>
 *
 * The signature covers the kind and the name of the document, the version and the text. `hmac` is HMAC-SHA-256 under a key that
 * HKDF derives from `gateway.store.key` for that kind alone; `ed25519` is for tables that CI signs (`gateway.store.table_key`).
 * A version is the Unix ms of the signing, or one more than the highest that the signer has seen: it only grows, and what
 * is older than what this machine has seen is refused.
 */
import type { KeyObject } from 'node:crypto';
import { createHmac, createPrivateKey, createPublicKey, sign, timingSafeEqual, verify } from 'node:crypto';
import { messageOf } from '../../../base/message-of.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';
import { deriveKey } from './seal.ts';
import type { SeenVersions } from './seen-versions.ts';

/** `active`: which table is served; `jobs`: the digests of all dynamic jobs; `request`: a kept one. */
export type DocumentKind = 'active' | 'jobs' | 'request' | 'subscriptions' | 'table';

export interface DocumentPlace {
  readonly kind: DocumentKind;
  /** Identifies the document among those of its kind. */
  readonly name: string;
}

/** A document that is not signed as it must be. The first line of the message names it, the second says what to do. */
export class DocumentRefused extends StoreRefused {
  override readonly name = 'StoreRefused';
}

export interface SigningKeys {
  /** Returns the text of `gateway.store.key`; null: it is not set. Throws when it cannot be read. */
  readonly key: () => string | null;
  /** Returns `gateway.store.table_key`, a PEM; null: it is not set. Throws when it cannot be read. */
  readonly tableKey: () => string | null;
}

type Algorithm = 'hmac' | 'ed25519';

const HEAD = /^signed:v1:(hmac|ed25519):([1-9][0-9]{0,15}):([0-9a-f]{64}|[0-9a-f]{128})\n/;

/** What to do about a refused document. */
const NEXT: Readonly<Record<DocumentKind, string>> = {
  active: 'activate a table: hookwright table activate <hash>',
  jobs: 'make them again: hookwright job create',
  request: 'it is not sent again',
  subscriptions: 'on a machine whose gateway still serves them, change one: hookwright webhook subscribe <name>',
  table: 'push it again: hookwright table push',
};

export class Signatures {
  private readonly keys: SigningKeys;
  private readonly seen: SeenVersions;
  private readonly now: () => number;
  private readonly derived = new Map<DocumentKind, Buffer>();
  /** Kinds with a signature that could not be checked, because there is no key here. */
  private readonly unchecked = new Set<DocumentKind>();
  private readonly problems = new Map<string, string>();

  /** @param now the machine's clock, in Unix ms */
  constructor(keys: SigningKeys, seen: SeenVersions, now: () => number) {
    this.keys = keys;
    this.seen = seen;
    this.now = now;
  }

  /** What is refused at present, for `gateway status` and `/readyz`. */
  get refused(): readonly string[] {
    return [...this.problems.values()];
  }

  /** Whether documents of the kind must be signed. @throws DocumentRefused when the key cannot be used */
  checks(kind: DocumentKind): boolean {
    return this.algorithm(kind) !== null;
  }

  /**
   * Returns the document with its signature, or unchanged where no key is set.
   * @param privateKey an Ed25519 key as PKCS#8 PEM, for a table
   * @throws DocumentRefused when the key cannot be used, or is missing where others sign
   */
  sign(place: DocumentPlace, text: string, privateKey: string | null = null): string {
    const { kind } = place;
    const algorithm = privateKey === null ? this.algorithm(kind) : 'ed25519';
    if (algorithm === 'ed25519' && privateKey === null)
      throw new DocumentRefused(
        `${what(place)}: gateways take tables that are signed with the private half of gateway.store.table_key\nsign it: --sign-with file:<PKCS#8 PEM>`,
      );
    if (algorithm === null && this.unchecked.has(kind))
      throw new DocumentRefused(
        `${what(place)}: other machines sign with gateway.store.key, and none is set here\nset the same key here`,
      );
    if (algorithm === null) return text;
    const version = Math.max(Math.floor(this.now()), this.seen.get(kind) + 1);
    const covered = coveredBytes(place, version, text);
    const signature = privateKey === null ? this.mac(kind, covered) : this.signTable(covered, privateKey);
    return `signed:v1:${algorithm}:${version}:${signature.toString('hex')}\n${text}`;
  }

  /**
   * Returns the text of a document from the database.
   * @param isNewest false: it may be older than what this machine has seen, because an operator asks for it
   * @throws DocumentRefused when it is not signed, altered, from another place, or older than what this machine has seen
   */
  open(place: DocumentPlace, stored: string, isNewest = true): string {
    try {
      const text = this.check(place, stored, isNewest);
      this.note(place.kind, null);
      return text;
    } catch (error) {
      // A refused request is refused when somebody asks for it; nothing is amiss afterwards.
      if (error instanceof DocumentRefused && place.kind !== 'request') this.note(place.kind, error.message);
      throw error;
    }
  }

  /** Records what is refused under a name of its own; null: nothing. Returns whether that is new. */
  note(name: string, problem: string | null): boolean {
    const before = this.problems.get(name) ?? null;
    if (problem === null) this.problems.delete(name);
    else this.problems.set(name, problem.replaceAll('\n', '; '));
    return problem !== null && this.problems.get(name) !== before;
  }

  private check(place: DocumentPlace, stored: string, isNewest: boolean): string {
    const head = HEAD.exec(stored);
    const wanted = this.algorithm(place.kind);
    const text = head === null ? stored : stored.slice(head[0].length);
    if (wanted === null) {
      if (head !== null) this.unchecked.add(place.kind);
      return text;
    }
    const by = wanted === 'hmac' ? 'gateway.store.key' : 'the private half of gateway.store.table_key';
    if (head === null || head[1] !== wanted) throw refused(place, `not signed with ${by}`);
    const [version, signature] = [Number(head[2]), Buffer.from(head[3] ?? '', 'hex')];
    const covered = coveredBytes(place, version, text);
    const isRight =
      wanted === 'hmac' ? sameBytes(this.mac(place.kind, covered), signature) : this.verifies(covered, signature);
    if (!isRight || !Number.isSafeInteger(version))
      throw refused(place, `signed with another key than ${by}, altered, or moved from elsewhere`);
    if (isNewest && this.isOrdered(place.kind)) this.checkAge(place, version);
    return text;
  }

  private checkAge(place: DocumentPlace, version: number): void {
    const seen = this.seen.get(place.kind);
    if (version < seen) throw refused(place, `older (${at(version)}) than what this machine has seen (${at(seen)})`);
    this.seen.raise(place.kind, version);
  }

  /** Without a key nothing signs which table is active, so the tables themselves must not become older. */
  private isOrdered(kind: DocumentKind): boolean {
    return kind === 'table' ? this.key() === null : kind !== 'request';
  }

  private algorithm(kind: DocumentKind): Algorithm | null {
    if (kind === 'table' && this.tableKey() !== null) return 'ed25519';
    return this.key() === null ? null : 'hmac';
  }

  private mac(kind: DocumentKind, covered: Buffer): Buffer {
    let derived = this.derived.get(kind);
    if (derived === undefined) {
      derived = usable('gateway.store.key', () => deriveKey(this.key() ?? '', `hookwright document ${kind}`));
      this.derived.set(kind, derived);
    }
    return createHmac('sha256', derived).update(covered).digest();
  }

  private signTable(covered: Buffer, pem: string): Buffer {
    const key = usable('--sign-with', () => ed25519(createPrivateKey(lines(pem))));
    const signature = sign(null, covered, key);
    if (this.tableKey() === null || this.verifies(covered, signature)) return signature;
    throw new DocumentRefused('--sign-with: this is not the private half of gateway.store.table_key');
  }

  private verifies(covered: Buffer, signature: Buffer): boolean {
    return verify(null, covered, this.publicKey(), signature);
  }

  private publicKey(): KeyObject {
    const pem = this.tableKey() ?? '';
    return usable('gateway.store.table_key', () => {
      if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) throw new Error('it is no public key (SPKI, PEM)');
      return ed25519(createPublicKey(lines(pem)));
    });
  }

  private key(): string | null {
    return usable('gateway.store.key', this.keys.key);
  }

  private tableKey(): string | null {
    return usable('gateway.store.table_key', this.keys.tableKey);
  }
}

/** Signs nothing, and believes what is stored. */
export const unsigned = (): Signatures =>
  new Signatures({ key: () => null, tableKey: () => null }, { get: () => 0, raise: () => {} }, () => 0);

/** For what is only shown. */
export const withoutSignature = (stored: string): string => stored.replace(HEAD, '');

/** JSON of the fields is unambiguous, and the text follows the first line feed. */
const coveredBytes = ({ kind, name }: DocumentPlace, version: number, text: string): Buffer =>
  Buffer.from(`${JSON.stringify(['hookwright document', kind, name, version])}\n${text}`, 'utf8');

const sameBytes = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

/** A variable may hold a PEM on one line. */
const lines = (pem: string): string => pem.replaceAll('\\n', '\n');

function ed25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(`it is a key for ${key.asymmetricKeyType}, not for Ed25519: openssl genpkey -algorithm ed25519`);
}

function usable<T>(setting: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (error instanceof DocumentRefused) throw error;
    throw new DocumentRefused(`${setting}: ${messageOf(error)}`);
  }
}

const at = (version: number): string => (version <= 8.64e15 ? new Date(version).toISOString() : String(version));

function what({ kind, name }: DocumentPlace): string {
  if (kind === 'table') return `table ${name.slice(0, 12)}`;
  if (kind === 'request') return `request ${name.split(' ', 1)[0]}`;
  return kind === 'active' ? 'the name of the active table' : `the ${kind}`;
}

const refused = (place: DocumentPlace, problem: string): DocumentRefused =>
  new DocumentRefused(`${what(place)} in the database: ${problem}\n${NEXT[place.kind]}`);
