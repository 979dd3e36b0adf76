/**
 * The table of signature checks, and the keys and encodings that they use. Each check prepares a secret once and then compares
 * in constant time.
 */
import type { KeyObject } from 'node:crypto';
import { createHmac, createPublicKey, hash, timingSafeEqual, verify } from 'node:crypto';
import type { SchemePlan, SecretForm } from '../../schemas/generated/types.ts';
import type { SignedContent } from './content.ts';
import { contentBytes } from './content.ts';
import { MAX_PARTS } from './request.ts';

/** True if any of the signatures is valid for the content, under one prepared secret. */
export type CheckSignature = (content: SignedContent, signatures: readonly string[]) => boolean;

/** Keys of one route's secrets. Schemes that read a secret in the same way share its keys. */
export type SharedKeys = Map<string, readonly HmacKey[]>;

export interface Primitive {
  /** Returns a check for every possible key in the secret's text; none if it cannot be a key. */
  readonly prepare: (secret: string, shared: SharedKeys) => readonly CheckSignature[];
  /** True if a text has the form of a signature. */
  readonly wellFormed: (signature: string) => boolean;
  /** Maximum number of signatures of a request; fewer if each needs its own check. */
  readonly most: number;
}

/** A check takes about 0.1 ms; a sender that rotates its key signs with both. */
const MOST_ASYMMETRIC = 8;

type Link = (plan: SchemePlan) => Primitive;

const PRIMITIVES: Readonly<Record<SchemePlan['verify'], Link>> = {
  'hmac-sha1': (plan) => hmac('sha1', plan),
  'hmac-sha256': (plan) => hmac('sha256', plan),
  'hmac-sha512': (plan) => hmac('sha512', plan),
  ed25519: (plan) => asymmetric(plan, null, 'ed25519', matcher(canonicalForm(plan.encoding, 64))),
  'ecdsa-p256': (plan) => asymmetric(plan, 'sha256', 'prime256v1', (text) => isDer(text, plan.encoding)),
  token: (plan) => secretText(plan, isHeader(plan) ? headerBytes : (text) => Buffer.from(text, 'utf8')),
  basic: (plan) => secretText(plan, decodeKeyBase64),
  none: () => ({ prepare: () => [], wellFormed: () => true, most: MAX_PARTS }),
};

export function linkPrimitive(plan: SchemePlan): Primitive {
  return PRIMITIVES[plan.verify](plan);
}

/**
 * Compares the digest as text in the signature's own encoding, in constant time: this is cheaper than decoding the
 * sender's text, and only the canonical spelling can match.
 */
function hmac(algorithm: HmacAlgorithm, plan: SchemePlan): Primitive {
  const { encoding, secret: form } = plan;
  const bytes = HMAC_LENGTHS[algorithm].digest;
  const equal = textComparer(Buffer.alloc(bytes).toString(encoding).length, isHeader(plan));
  const isEqual =
    encoding === 'hex'
      ? (digest: string, received: string) => equal(digest, received) || equal(digest, received.toLowerCase())
      : equal;
  const scratch = hmacScratch(algorithm);
  const check = (key: HmacKey, content: SignedContent, signatures: readonly string[]): boolean => {
    const digest = key.digest(content, encoding);
    for (const received of signatures) if (isEqual(digest, received)) return true;
    return false;
  };
  const prepare = (secret: string, shared: SharedKeys): readonly CheckSignature[] => {
    const name = `${algorithm} ${form.strip} ${form.as} ${form.otherwise} ${secret}`;
    const keys = shared.get(name) ?? secretKeys(secret, form).map((key) => new HmacKey(algorithm, key, scratch));
    shared.set(name, keys);
    return keys.map((key) => (content, signatures) => check(key, content, signatures));
  };
  return { wellFormed: matcher(canonicalForm(encoding, bytes)), prepare, most: MAX_PARTS };
}

function asymmetric(
  plan: SchemePlan,
  digest: 'sha256' | null,
  curve: 'ed25519' | 'prime256v1',
  wellFormed: (text: string) => boolean,
): Primitive {
  const prepare = (secret: string): readonly CheckSignature[] => {
    const key = publicKey(secret, plan.secret, curve);
    if (key === null) return [];
    return [
      (content, signatures) => {
        const data = contentBytes(content);
        return signatures.some((text) => verify(digest, data, key, Buffer.from(text, plan.encoding)));
      },
    ];
  };
  return { wellFormed, prepare, most: MOST_ASYMMETRIC };
}

/** True if the text is an ECDSA signature over a 256-bit curve in DER (RFC 3279 §2.2.3): a sequence of two integers. */
function isDer(text: string, encoding: Encoding): boolean {
  const bytes = decodeCanonical(encoding, text);
  if (bytes === null || bytes.length < 8 || bytes.length > 72) return false;
  const second = 4 + (bytes[3] ?? 0);
  return (
    bytes[0] === SEQUENCE &&
    bytes[1] === bytes.length - 2 &&
    bytes[2] === INTEGER &&
    bytes[second] === INTEGER &&
    bytes[second + 1] === bytes.length - second - 2
  );
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** A secret sent in plain text. Digests are compared, so that not even its length is revealed. */
function secretText(plan: SchemePlan, decode: (text: string) => Buffer | null): Primitive {
  const prepare = (secret: string): readonly CheckSignature[] =>
    secretKeys(secret, plan.secret).map((key) => {
      const expected = sha256(key);
      return (_content, signatures) => {
        let right = false;
        for (const text of signatures) {
          const received = decode(text);
          if (received !== null && timingSafeEqual(sha256(received), expected)) right = true;
        }
        return right;
      };
    });
  return { wellFormed: (text) => text !== '' && decode(text) !== null, prepare, most: MAX_PARTS };
}

/**
 * Returns a comparison of an ASCII text of this length with any other text, over two preallocated buffers.
 * @param latin1 the other text has only one-byte characters
 */
function textComparer(length: number, latin1: boolean): (expected: string, received: string) => boolean {
  const left = Buffer.alloc(length);
  const right = Buffer.alloc(length);
  return (expected, received) => {
    // Of wider characters, only the low byte would be compared.
    if (received.length !== length || (!latin1 && !isAscii(received))) return false;
    left.write(expected, 'latin1');
    right.write(received, 'latin1');
    return timingSafeEqual(left, right);
  };
}

/** True if all signatures are in headers, which Node reads as Latin-1. */
function isHeader(plan: SchemePlan): boolean {
  return plan.signature.every((at) => at.in === 'header');
}

function matcher(form: RegExp): (text: string) => boolean {
  return (text) => form.test(text);
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/*
 * HMAC (RFC 2104) with a key that is prepared once.
 *
 *     HMAC(K, m) = H((K ^ opad) || H((K ^ ipad) || m))
 *
 * A short message is hashed with two one-shot digests over prepared pads: at a few hundred bytes the stream object of
 * `createHmac` costs more than the hashing (300 bytes: 1.1 us in place of 1.8 us, 2000 bytes: 2.1 us in place of 2.9 us).
 * A long message would have to be copied after its pad, so it uses `createHmac`.
 */

type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** Digest and block lengths in bytes (FIPS 180-4). */
const HMAC_LENGTHS: Readonly<Record<HmacAlgorithm, { readonly digest: number; readonly block: number }>> = {
  sha1: { digest: 20, block: 64 },
  sha256: { digest: 32, block: 64 },
  sha512: { digest: 64, block: 128 },
};

/** Messages up to this length, in bytes, are copied after the pad. */
const SHORT = 2048;
const IPAD = 0x36;
const OPAD = 0x5c;

/** Room for the inner pad and a short message. */
const hmacScratch = (algorithm: HmacAlgorithm): Buffer => Buffer.alloc(HMAC_LENGTHS[algorithm].block + SHORT);

export class HmacKey {
  readonly #algorithm: HmacAlgorithm;
  readonly #key: Buffer;
  readonly #inner: Buffer;
  /** The outer pad with room for the inner digest. */
  readonly #outer: Buffer;

  /** Work space for a short message; keys may share one, because digests are computed one at a time. */
  readonly #scratch: Buffer;

  constructor(algorithm: HmacAlgorithm, key: Buffer, scratch: Buffer = hmacScratch(algorithm)) {
    const { block, digest } = HMAC_LENGTHS[algorithm];
    const short = key.length > block ? hash(algorithm, key, 'buffer') : key;
    this.#algorithm = algorithm;
    this.#key = key;
    this.#scratch = scratch;
    this.#inner = pad(short, IPAD, block, block);
    this.#outer = pad(short, OPAD, block, block + digest);
  }

  /** The digest as text: hex in lower case, base64 in its canonical form. */
  digest(content: SignedContent, encoding: Encoding): string {
    const length = content.head.length + content.body.length + content.tail.length;
    return length > SHORT ? this.#long(content, encoding) : this.#short(content, encoding);
  }

  #short({ head, body, tail }: SignedContent, encoding: Encoding): string {
    const inner = this.#inner;
    const message = this.#scratch;
    message.set(inner, 0);
    let at = inner.length;
    if (head !== '') at += message.write(head, at, 'latin1');
    message.set(body, at);
    at += body.length;
    if (tail !== '') at += message.write(tail, at, 'latin1');
    const digest = hash(this.#algorithm, message.subarray(0, at), 'binary');
    this.#outer.write(digest, inner.length, 'latin1');
    return hash(this.#algorithm, this.#outer, encoding);
  }

  #long({ head, body, tail }: SignedContent, encoding: Encoding): string {
    const mac = createHmac(this.#algorithm, this.#key);
    if (head !== '') mac.update(head, 'latin1');
    mac.update(body);
    if (tail !== '') mac.update(tail, 'latin1');
    return mac.digest(encoding);
  }
}

/** Allocates from Node's buffer pool, because a table of many routes holds many keys. */
function pad(key: Buffer, byte: number, block: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length).fill(byte, 0, block);
  for (let index = 0; index < key.length; index += 1) bytes[index] = (key[index] ?? 0) ^ byte;
  return bytes;
}

/** DER of an ed25519 SubjectPublicKeyInfo up to the 32 key bytes (RFC 8410 §4). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

const DECODERS: Readonly<Record<SecretForm['as'], (text: string) => Buffer | null>> = {
  utf8: (text) => Buffer.from(text, 'utf8'),
  hex: (text) => decodeCanonical('hex', text),
  base64: decodeKeyBase64,
  'raw-hex': (text) => decodeCanonical('hex', text),
  'raw-base64': decodeKeyBase64,
  'spki-base64': decodeKeyBase64,
};

/**
 * Every key that a secret's text may mean. More than one only if senders differ (`utf8-or-base64`); none if the text cannot be
 * a key. An empty key is not allowed: an HMAC under it "verifies" for everyone.
 */
export function secretKeys(text: string, form: SecretForm): Buffer[] {
  const marked = form.strip !== '' && text.startsWith(form.strip);
  if (!marked && form.strip !== '' && form.otherwise === 'refuse') return [];
  if (!marked && form.otherwise === 'utf8-or-base64') {
    return [DECODERS.utf8(text), decodeCanonical('base64', text)].filter(isKey);
  }
  return [DECODERS[form.as](marked ? text.slice(form.strip.length) : text)].filter(isKey);
}

/** Parses a public key (PEM, or in the scheme's own form); null if it is not one of this curve. */
function publicKey(text: string, form: SecretForm, curve: 'ed25519' | 'prime256v1'): KeyObject | null {
  try {
    const key = text.includes('-----BEGIN') ? createPublicKey(text) : rawPublicKey(text, form);
    if (key === null) return null;
    const actual = key.asymmetricKeyType === 'ec' ? key.asymmetricKeyDetails?.namedCurve : key.asymmetricKeyType;
    return actual === curve ? key : null;
  } catch {
    return null;
  }
}

function rawPublicKey(text: string, form: SecretForm): KeyObject | null {
  const bytes = secretKeys(text, form)[0];
  if (bytes === undefined) return null;
  const raw = form.as === 'raw-hex' || form.as === 'raw-base64';
  if (raw && bytes.length !== 32) return null;
  return createPublicKey({ key: raw ? Buffer.concat([ED25519_SPKI, bytes]) : bytes, format: 'der', type: 'spki' });
}

/** People paste keys, and programs write credentials, without padding; everything else must be exact. */
function decodeKeyBase64(text: string): Buffer | null {
  const padded = text.endsWith('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  return decodeCanonical('base64', padded);
}

function isKey(bytes: Buffer | null): bytes is Buffer {
  return bytes !== null && bytes.length > 0;
}

/** Text forms of signatures and keys. Strict on the wire: a signature has exactly one valid spelling. */
type Encoding = 'hex' | 'base64' | 'base64url';

/** The alphabets; below, the characters that may end a group of one or two bytes, with the unused bits zero. */
const BASE64 = {
  base64: { alphabet: 'A-Za-z0-9+/', padded: true },
  base64url: { alphabet: 'A-Za-z0-9_-', padded: false },
} as const;
const LAST_OF_ONE = '[AQgw]';
const LAST_OF_TWO = '[AEIMQUYcgkosw048]';

/** Matches exactly the canonical texts of `bytes` bytes; hex in either case. */
function canonicalForm(encoding: Encoding, bytes: number): RegExp {
  if (encoding === 'hex') return new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`);
  const { alphabet, padded } = BASE64[encoding];
  const whole = Math.floor(bytes / 3) * 4;
  const pad = (text: string): string => (padded ? text : '');
  const rest = ['', `[${alphabet}]${LAST_OF_ONE}${pad('==')}`, `[${alphabet}]{2}${LAST_OF_TWO}${pad('=')}`][bytes % 3];
  return new RegExp(`^[${alphabet}]{${whole}}${rest}$`);
}

/** Decodes a text of any length; null if it is not canonical. */
function decodeCanonical(encoding: Encoding, text: string): Buffer | null {
  const bytes = Buffer.from(text, encoding);
  const again = bytes.toString(encoding);
  return (encoding === 'hex' ? again === text.toLowerCase() : again === text) ? bytes : null;
}

/** The bytes of a header value, which Node reads as Latin-1; null for text that a header cannot contain. */
function headerBytes(text: string): Buffer | null {
  return /^[\x00-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : null;
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}
